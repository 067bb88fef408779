"""Look closer: a part of the original picture, enlarged."""

from __future__ import annotations

from pydantic import Field

from fieldmark.errors import ToolError
from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import BoxArgs, place, shown
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import OptionalNumber
from fieldmark.trace import Box, Region

MIN_OUTPUT = 28
LONG_OUTPUT = 768
MAX_OUTPUT = 1536
MAX_ENLARGEMENT = 16.0
MIN_BOX = 8
"""Sides of the result in px: never below MIN_OUTPUT (processors fail), the longer one from LONG_OUTPUT,
where MAX_ENLARGEMENT allows it, to MAX_OUTPUT (model providers refuse much larger ones)."""


class CropArgs(BoxArgs):
    zoom: OptionalNumber = Field(
        None, description="output pixels per original pixel; leave out for a good size", gt=0
    )


def run(args: CropArgs, context: Context) -> ToolResult:
    placed = place(args.corners(), args.space, context.image, context.view)
    notes = list(placed.notes)
    scale = _scale(placed.box, args.zoom, notes)
    box = _expanded(placed.box, scale, context, notes)
    _, picture = context.region(box, scale=scale, media_type="image/jpeg")
    used = picture.box or box
    lines = [
        f"Shown: original pixels {shown(used)} of the {context.image.width}x{context.image.height} px image, "
        f"as {picture.width}x{picture.height} px (scale {picture.width / (used[2] - used[0]):.3g}).",
        *(f"Note: {note}." for note in notes),
    ]
    data = {"found": True, "box": list(used), "scale": round(scale, 4)}
    regions = [Region(of=context.image.blob, box=used, label="crop")]
    return ToolResult("\n".join(lines), data, [picture], regions)


def _scale(box: Box, zoom: float | None, notes: list[str]) -> float:
    longer = max(box[2] - box[0], box[3] - box[1], MIN_OUTPUT)
    most = MAX_OUTPUT / longer
    if zoom is None:
        return min(most, max(1.0, min(LONG_OUTPUT / longer, MAX_ENLARGEMENT)))
    if zoom > most:
        notes.append(f"zoom {zoom:g} would pass {MAX_OUTPUT} px and has been lowered to {most:.3g}")
    return min(zoom, most)


def _expanded(box: Box, scale: float, context: Context, notes: list[str]) -> Box:
    """`box`, grown around its centre to MIN_BOX original px, and until each output side has MIN_OUTPUT px."""
    least = max(MIN_OUTPUT / scale, MIN_BOX)
    left, right = _grown(box[0], box[2], least, context.image.width)
    top, bottom = _grown(box[1], box[3], least, context.image.height)
    if (right - left) * scale < MIN_OUTPUT - 1 or (bottom - top) * scale < MIN_OUTPUT - 1:
        size = f"{context.image.width}x{context.image.height} px"
        message = (
            f"{shown(box)} is too small or too long a strip to be shown (the image is {size}): "
            "choose another part"
        )
        raise ToolError(message, "invalid_args")
    grown: Box = (left, top, right, bottom)
    if grown != box:
        notes.append(f"the box {shown(box)} was too small and has been expanded around its centre")
    return grown


def _grown(low: float, high: float, least: float, limit: int) -> tuple[float, float]:
    if high - low >= least:
        return low, high
    least = min(least, limit)
    start = min(max((low + high - least) / 2, 0.0), limit - least)
    return start, start + least


TOOL = Tool(
    name="crop_zoom",
    description=(
        "Look closer at a part of the task image: returns that part, enlarged, from the full-resolution "
        "original. Give two opposite corners x1,y1 (left,top) and x2,y2 (right,bottom), not a width and "
        "height, and say with `space` what they refer to. The result states which original pixels were used."
    ),
    args=CropArgs,
    action="crop_zoom",
    run=run,
)
