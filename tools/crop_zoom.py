"""Look closer: a part of the original picture, enlarged, turned or with more contrast where asked for."""

from __future__ import annotations

from pydantic import Field

from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import BoxArgs, place, shown, turned_size
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number, OptionalNumber
from fieldmark.tools.showing import MAX_OUTPUT, MIN_BOX, MIN_OUTPUT, at_least, check_sides, good_scale, whole
from fieldmark.trace import Box, Contrast, Picture, Region


class CropArgs(BoxArgs):
    zoom: OptionalNumber = Field(
        None, description="output pixels per original pixel; leave out for a good size", gt=0
    )
    rotate: Number = Field(
        0.0, description="turn what is shown clockwise by so many degrees, to level tilted or sideways text"
    )
    contrast: Contrast = Field(
        "none", description="auto: stretch the brightness of what is shown, for dark, pale or hazy parts"
    )


def run(args: CropArgs, context: Context) -> ToolResult:
    placed = place(args.corners(), args.space, context.image, context.view)
    notes = list(placed.notes)
    image = context.image
    box = at_least(whole(placed.box, image), MIN_BOX, image)
    scale = _scale(box, args, notes)
    box = at_least(box, MIN_OUTPUT / scale, image)
    if box != whole(placed.box, image):
        notes.append(f"the box {shown(placed.box)} was too small and has been expanded around its centre")
    scale = min(scale, _most(box, args.rotate))
    check_sides(box, scale, image)
    _, picture = context.region(
        box,
        scale=scale,
        media_type="image/jpeg",
        rotate=args.rotate % 360,
        contrast=args.contrast,
        shown=True,
    )
    lines = [*_described(picture, context), *(f"Note: {note}." for note in notes)]
    data = {"found": True, "box": list(picture.box or box), "scale": round(picture.scale or scale, 4)}
    regions = [Region(of=image.blob, box=picture.box or box, label="crop")]
    return ToolResult("\n".join(lines), data | _done(picture), [picture], regions)


def _scale(box: Box, args: CropArgs, notes: list[str]) -> float:
    most = _most(box, args.rotate)
    if args.zoom is None:
        return min(good_scale(_longer(box, args.rotate)), most)
    least = min(MIN_OUTPUT / min(box[2] - box[0], box[3] - box[1]), most)
    if args.zoom > most:
        notes.append(f"zoom {args.zoom:g} would pass {MAX_OUTPUT} px and has been lowered to {most:.3g}")
    if args.zoom < least:
        notes.append(
            f"zoom {args.zoom:g} would show under {MIN_OUTPUT} px and has been raised to {least:.3g}"
        )
    return min(max(args.zoom, least), most)


def _most(box: Box, rotate: float) -> float:
    """The scale at which the longer side of what is shown has MAX_OUTPUT px."""
    allowed = MAX_OUTPUT if rotate % 90 == 0 else MAX_OUTPUT - 2  # an oblique turn rounds its sides up
    return allowed / _longer(box, rotate)


def _longer(box: Box, rotate: float) -> float:
    return max(*turned_size(box[2] - box[0], box[3] - box[1], rotate), MIN_OUTPUT)


def _described(picture: Picture, context: Context) -> list[str]:
    image, box = context.image, picture.box or (0, 0, context.image.width, context.image.height)
    lines = [
        f"Shown: original pixels {shown(box)} of the {image.width}x{image.height} px image, "
        f"as {picture.width}x{picture.height} px (scale {picture.scale or 1:.3g})."
    ]
    if picture.rotate:
        corners = "" if picture.rotate % 90 == 0 else "; the grey corners are not part of the image"
        lines.append(f"Turned {picture.rotate:g} degrees clockwise{corners}.")
    if picture.levels:
        low, high = picture.levels
        done = f"{low}-{high} has been stretched to 0-255" if 0 < high - low < 255 else "left as it was"
        lines.append(f"Contrast: brightness {done}.")
    return lines


def _done(picture: Picture) -> dict[str, object]:
    return picture.model_dump(include={"rotate", "contrast", "levels"}, exclude_none=True, mode="json")


TOOL = Tool(
    name="crop_zoom",
    description=(
        "Look closer at a part of the task image: returns that part, enlarged, from the full-resolution "
        "original. Give two opposite corners x1,y1 (left,top) and x2,y2 (right,bottom), not a width and "
        "height, and say with `space` what they refer to. `rotate` levels tilted text, `contrast` brings out "
        "what is dark or pale. The result states which original pixels were used and what was done to them."
    ),
    args=CropArgs,
    action="crop_zoom",
    run=run,
)
