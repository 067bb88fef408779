"""Boxes as a model gives them, in one of four spaces, and as the tools use them: original pixels."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field, create_model, model_validator

from fieldmark.errors import ToolError
from fieldmark.task import Space
from fieldmark.tools.base import Args, Tool
from fieldmark.tools.numbers import Number, OptionalNumber
from fieldmark.trace import Box, Picture

BoxList = Annotated[list[Number], Field(min_length=4, max_length=4)]
"""A box in one argument: [x1,y1,x2,y2]."""

_MEANINGS: dict[Space, str] = {
    "pixel": "pixels of the original image",
    "sent": "pixels of the image as it was shown to you",
    "norm1000": "0 to 1000 along each side",
    "fraction": "0 to 1 along each side",
}
_KNOWN_SPACES: tuple[tuple[str, Space], ...] = (
    # relative, 0 to 1000: its cookbook 2d_grounding, as quoted in github.com/QwenLM/Qwen3-VL/issues/1741
    (r"qwen-?3(\.\d+)?-?vl", "norm1000"),
    # absolute, in the scale of its input: a maintainer in github.com/QwenLM/Qwen3-VL/issues/957
    (r"qwen-?2[.-]5-?vl", "sent"),
    # thousandths of each side: huggingface.co/zai-org/GLM-4.5V and github.com/zai-org/GLM-V/issues/114
    (r"glm-?4[.-][56]v", "norm1000"),
)
"""How families of models were trained to give boxes: a part of the name, "_" read as "-", → the space."""


def meaning(space: Space) -> str:
    """What coordinates in `space` are."""
    return _MEANINGS[space]


def space_of(model: str) -> Space:
    """What the boxes of a model refer to, as far as is known of its family; else `pixel`."""
    name = model.lower().replace("_", "-")
    return next((space for part, space in _KNOWN_SPACES if re.search(part, name)), "pixel")


def _described(default: Space) -> str:
    listed = "; ".join(
        f"{space} = {text}{' (default)' if space == default else ''}" for space, text in _MEANINGS.items()
    )
    return f"what the coordinates refer to: {listed}"


class BoxArgs(Args):
    """A box by two opposite corners."""

    x1: Number = Field(description="left edge")
    y1: Number = Field(description="top edge")
    x2: Number = Field(description="right edge (not a width)")
    y2: Number = Field(description="bottom edge (not a height)")
    space: Space = Field("pixel", description=_described("pixel"))

    def corners(self) -> Box:
        return (self.x1, self.y1, self.x2, self.y2)


class OptionalBoxArgs(Args):
    """A box, or none: the whole image."""

    x1: OptionalNumber = Field(None, description="left edge; leave x1,y1,x2,y2 out for the whole image")
    y1: OptionalNumber = Field(None, description="top edge")
    x2: OptionalNumber = Field(None, description="right edge (not a width)")
    y2: OptionalNumber = Field(None, description="bottom edge (not a height)")
    space: Space = Field("pixel", description=_described("pixel"))

    @model_validator(mode="after")
    def _all_or_none(self) -> OptionalBoxArgs:
        absent = [name for name in ("x1", "y1", "x2", "y2") if getattr(self, name) is None]
        if 0 < len(absent) < 4:
            raise ValueError(f"{', '.join(absent)}: missing; give all of x1, y1, x2, y2, or none")
        return self

    def corners(self) -> Box | None:
        if self.x1 is None or self.y1 is None or self.x2 is None or self.y2 is None:
            return None
        return (self.x1, self.y1, self.x2, self.y2)


def looks(tool: Tool) -> bool:
    """Whether a tool works on the task image: then it takes a box of it."""
    return issubclass(tool.args, BoxArgs | OptionalBoxArgs)


def in_space(tool: Tool, space: Space) -> Tool:
    """`tool` with `space` as the default of its boxes, in what it says and in what it does."""
    if "space" not in tool.args.model_fields:
        return tool
    field: Any = (Space, Field(space, description=_described(space)))
    args = create_model(tool.args.__name__, __base__=tool.args, space=field)
    default = f"Coordinates are {meaning(space)} (space={space}) unless you name another `space`."
    return replace(tool, args=args, description=f"{tool.description} {default}")


@dataclass(frozen=True)
class Placed:
    """A box in original pixels, inside the image and not empty; `notes` say what had to be mended."""

    box: Box
    notes: tuple[str, ...]


def place(corners: Box, space: Space, image: Picture, view: Picture) -> Placed:
    """Map a model's box to the original. ToolError `invalid_args` when it is empty or outside."""
    raw = _to_pixels(corners, space, image, view)
    box: Box = (min(raw[0], raw[2]), min(raw[1], raw[3]), max(raw[0], raw[2]), max(raw[1], raw[3]))
    notes = [] if box == raw else [f"corners were reversed and have been sorted ({_order(image)})"]
    if box[0] == box[2] or box[1] == box[3]:
        raise ToolError(f"empty box {shown(box)} in original pixels: {_order(image)}", "invalid_args")
    inside: Box = (
        max(box[0], 0.0),
        max(box[1], 0.0),
        min(box[2], float(image.width)),
        min(box[3], float(image.height)),
    )
    if inside[0] >= inside[2] or inside[1] >= inside[3]:
        raise ToolError(f"the box {shown(box)} lies outside the image: {_order(image)}", "invalid_args")
    if inside != box:
        notes.append("the box reached outside the image and has been clamped")
    return Placed(inside, tuple(notes))


def _to_pixels(corners: Box, space: Space, image: Picture, view: Picture) -> Box:
    across, down = {
        "pixel": (1.0, 1.0),
        "sent": (image.width / view.width, image.height / view.height),
        "norm1000": (image.width / 1000, image.height / 1000),
        "fraction": (float(image.width), float(image.height)),
    }[space]
    limit = 1e9  # keeps 1e308 from becoming infinite
    x1, y1, x2, y2 = (min(max(value, -limit), limit) for value in corners)
    return (x1 * across, y1 * down, x2 * across, y2 * down)


def turned_size(width: float, height: float, degrees: float) -> tuple[float, float]:
    """The sides of the upright rectangle around a `width` x `height` one that is turned by `degrees`."""
    if degrees % 90 == 0:
        return (width, height) if degrees % 180 == 0 else (height, width)
    across, down = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    return (width * across + height * down, width * down + height * across)


def _order(image: Picture) -> str:
    return f"expected x1,y1 = left,top and x2,y2 = right,bottom; the image is {image.width}x{image.height} px"


def shown(box: Box) -> str:
    """`[10,20,30.5,40]`"""
    return (
        "[" + ",".join(f"{round(value, 1):g}" if abs(value) < 1e5 else f"{value:.0f}" for value in box) + "]"
    )
