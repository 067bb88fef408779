"""Read the text in the picture, or only the aircraft registrations in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from fieldmark.errors import ToolError
from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import OptionalBoxArgs, place, shown
from fieldmark.tools.context import Context
from fieldmark.tools.reading import tesseract
from fieldmark.trace import Box, Picture, Region

if TYPE_CHECKING:
    from fieldmark.tools.reading.lines import Grey, Reading
    from fieldmark.tools.reading.sightings import Sighting

_READ_AT_LEAST, _READ_AT_MOST = 1000, 2400
"""The longer side, in px, at which a picture is read; smaller ones are enlarged up to _MAX_ENLARGEMENT."""

_MAX_ENLARGEMENT = 4
_MAX_LINES = 60


class OcrArgs(OptionalBoxArgs):
    mode: Literal["text", "registration"] = Field(
        "text", description="text: all text; registration: only aircraft registrations, which it reads better"
    )
    lang: str = Field("en", description="language of the text: en, zh, or several as en+zh", max_length=40)


def run(args: OcrArgs, context: Context) -> ToolResult:
    from fieldmark.tools.reading.lines import replaced

    lang = tesseract.languages(args.lang)
    corners = args.corners()
    placed = None if corners is None else place(corners, args.space, context.image, context.view)
    data, picture = context.region(
        None if placed is None else placed.box,
        scale=_scale(placed.box if placed else (0, 0, context.image.width, context.image.height)),
        media_type="image/jpeg",
    )
    lines, marks, turned = _read(_grey(data), lang, args.mode)
    notes = list(placed.notes if placed else ())
    if turned:
        notes.append(f"read after turning the picture {turned} degrees clockwise")
    return _result(
        [replaced(line, lambda box: _original(box, picture)) for line in lines],
        [replace(mark, box=_original(mark.box, picture)) for mark in marks],
        notes,
        context,
    )


def _scale(box: Box) -> float:
    longer = max(box[2] - box[0], box[3] - box[1])
    if longer > _READ_AT_MOST:
        return _READ_AT_MOST / longer
    return float(min(_MAX_ENLARGEMENT, max(1, _READ_AT_LEAST // longer)))


def _grey(data: bytes) -> Grey:
    import cv2
    import numpy as np

    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)
    if image is None:
        raise ToolError("the region could not be decoded", "runtime")
    return np.asarray(image, np.uint8)


def _read(grey: Grey, lang: str, mode: str) -> tuple[list[Reading], list[Sighting], int]:
    from fieldmark.tools.reading.lines import read_text
    from fieldmark.tools.reading.sightings import read_registrations, sightings

    if mode == "registration":
        return read_registrations(grey)
    lines, turned = read_text(grey, lang)
    return lines, sightings(lines), turned


def _original(box: Box, picture: Picture) -> Box:
    """A box of the region in pixels of the original."""
    left, top, right, bottom = picture.box or (0.0, 0.0, float(picture.width), float(picture.height))
    across, down = (right - left) / picture.width, (bottom - top) / picture.height
    x0, y0 = max(left + box[0] * across, left), max(top + box[1] * down, top)
    x1, y1 = min(left + box[2] * across, right), min(top + box[3] * down, bottom)
    return (round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1))


def _result(lines: list[Reading], marks: list[Sighting], notes: list[str], context: Context) -> ToolResult:
    text = [_headline(lines, marks)]
    text += [f"Note: {note}." for note in notes]
    text += [_mark_line(mark) for mark in marks]
    text += [
        f'- "{line.text}" at {shown(line.box)}, confidence {line.confidence:.2f}'
        for line in lines[:_MAX_LINES]
    ]
    regions = [_region(context, line.box, line.text, line.confidence) for line in lines[:_MAX_LINES]]
    regions += [_region(context, mark.box, mark.text, mark.confidence) for mark in marks]
    return ToolResult("\n".join(text), _data(lines[:_MAX_LINES], marks), regions=regions)


def _headline(lines: list[Reading], marks: list[Sighting]) -> str:
    if not lines and not marks:
        return "No text was read."
    return "Read, with places in original pixels (left,top,right,bottom) and confidence 0 to 1:"


def _mark_line(mark: Sighting) -> str:
    how = "" if mark.raw == mark.text else f', read as "{mark.raw}"'
    place = f"at {shown(mark.box)}, confidence {mark.confidence:.2f}"
    return f"- registration {mark.text} ({mark.nation}){how}, {place}"


def _data(lines: list[Reading], marks: list[Sighting]) -> dict[str, Any]:
    return {
        "found": bool(lines or marks),
        "lines": [
            {"text": line.text, "confidence": round(line.confidence, 3), "box": list(line.box)}
            for line in lines
        ],
        "registrations": [
            {
                "text": mark.text,
                "raw": mark.raw,
                "confidence": mark.confidence,
                "box": list(mark.box),
                "nation": mark.nation,
            }
            for mark in marks
        ],
    }


def _region(context: Context, box: Box, label: str, score: float) -> Region:
    return Region(of=context.image.blob, box=box, label=label, score=round(score, 3))


TOOL = Tool(
    name="ocr",
    description=(
        "Read text in the task image at full resolution, in all of it or in a box (a box around small text "
        "reads better). Returns lines with confidence and place. With mode=registration it looks for "
        "aircraft registrations only, also tilted ones, and gives the nearest valid mark beside the reading."
    ),
    args=OcrArgs,
    action="ocr",
    run=run,
)
