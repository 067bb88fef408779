"""Read the text in the picture, or only the aircraft registrations in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from fieldmark.errors import ToolError
from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import OptionalBoxArgs, place, shown
from fieldmark.tools.context import Context
from fieldmark.trace import Box, Picture, Region

if TYPE_CHECKING:
    from fieldmark.tools.reading.engine import Engine, Grey
    from fieldmark.tools.reading.lines import Reading
    from fieldmark.tools.reading.sightings import Sighting

_READ_AT_LEAST, _READ_AT_MOST = 1000, 2400
"""The longer side, in px, at which a picture is read; smaller ones are enlarged up to _MAX_ENLARGEMENT."""

_MAX_ENLARGEMENT = 4
_MAX_LINES = 60
_LEAST = 8
"""Sides in px below which no engine reads a character, and RapidOCR makes a strip enormous."""


class OcrArgs(OptionalBoxArgs):
    mode: Literal["text", "registration"] = Field(
        "text", description="text: all text; registration: only aircraft registrations, which it reads better"
    )
    lang: str = Field("en", description="language of the text: en, zh, or several as en+zh", max_length=40)


@dataclass(frozen=True)
class _Found:
    """What an engine read, in pixels of the original."""

    engine: str
    lines: list[Reading]
    marks: list[Sighting]

    @property
    def items(self) -> list[Reading | Sighting]:
        return [*self.lines, *self.marks]

    def data(self) -> dict[str, Any]:
        return {
            "found": bool(self.lines or self.marks),
            "engine": self.engine,
            "lines": [{"text": line.text, **_where(line)} for line in self.lines],
            "registrations": [
                {
                    "text": mark.text,
                    "raw": mark.raw,
                    "changed": [list(change) for change in mark.changed],
                    **_where(mark),
                    "nation": mark.nation,
                }
                for mark in self.marks
            ],
        }


def _where(item: Reading | Sighting) -> dict[str, Any]:
    place = {"confidence": round(item.confidence, 3), "box": list(item.box)}
    return {**place, "rotation": item.turned}


def run(args: OcrArgs, context: Context) -> ToolResult:
    from fieldmark.tools.reading.engine import get_engine
    from fieldmark.tools.reading.lines import replaced
    from fieldmark.tools.reading.noise import calmed

    engine = get_engine(context.ocr_engine)
    lang = engine.language(args.lang)
    corners = args.corners()
    placed = None if corners is None else place(corners, args.space, context.image, context.view)
    data, picture = context.region(
        None if placed is None else placed.box,
        scale=_scale(placed.box if placed else (0, 0, context.image.width, context.image.height)),
        media_type="image/jpeg",
    )
    grey = calmed(_grey(data), picture.scale or 1.0)
    lines, marks = _read(grey, engine, lang, args.mode)
    found = _Found(
        engine.name,
        [replaced(line, lambda box: _original(box, picture)) for line in lines[:_MAX_LINES]],
        [replace(mark, box=_original(mark.box, picture)) for mark in marks],
    )
    return _result(found, placed.notes if placed else (), context)


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


def _read(grey: Grey, engine: Engine, lang: str, mode: str) -> tuple[list[Reading], list[Sighting]]:
    from fieldmark.tools.reading.lines import read_text
    from fieldmark.tools.reading.sightings import read_registrations, sightings

    if min(grey.shape) < _LEAST:
        return [], []
    if mode == "registration":
        return read_registrations(grey, engine)
    lines = read_text(grey, engine, lang)
    return lines, sightings(lines)


def _original(box: Box, picture: Picture) -> Box:
    """A box of the region in pixels of the original."""
    left, top, right, bottom = picture.box or (0.0, 0.0, float(picture.width), float(picture.height))
    across, down = (right - left) / picture.width, (bottom - top) / picture.height
    x0, y0 = max(left + box[0] * across, left), max(top + box[1] * down, top)
    x1, y1 = min(left + box[2] * across, right), min(top + box[3] * down, bottom)
    return (round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1))


def _result(found: _Found, notes: Iterable[str], context: Context) -> ToolResult:
    text = [_headline(found), *(f"Note: {note}." for note in notes)]
    text += [_mark_line(mark) for mark in found.marks]
    text += [f'- "{line.text}"{_how_sure(line)}' for line in found.lines]
    regions = [_region(context, item) for item in found.items]
    return ToolResult("\n".join(text), found.data(), regions=regions)


def _headline(found: _Found) -> str:
    if not found.lines and not found.marks:
        return "No text was read."
    return "Read, with places in original pixels (left,top,right,bottom) and confidence 0 to 1:"


def _mark_line(mark: Sighting) -> str:
    how = "" if mark.raw == mark.text else f', read as "{mark.raw}"'
    how += "".join(f", {assumed} was read as {read}" for _, read, assumed in mark.changed)
    return f"- registration {mark.text} ({mark.nation}){how},{_how_sure(mark)}"


def _how_sure(item: Reading | Sighting) -> str:
    turned = f", after turning the picture {item.turned} degrees clockwise" if item.turned else ""
    return f" at {shown(item.box)}, confidence {item.confidence:.2f}{turned}"


def _region(context: Context, item: Reading | Sighting) -> Region:
    return Region(of=context.image.blob, box=item.box, label=item.text, score=round(item.confidence, 3))


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
