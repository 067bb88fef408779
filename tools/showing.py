"""How a box of the original is shown to a model: whole pixels, neither too small nor too large."""

from __future__ import annotations

import math

from fieldmark.errors import ToolError
from fieldmark.tools.boxes import shown
from fieldmark.trace import Box, Picture

MIN_OUTPUT = 28
LONG_OUTPUT = 768
MAX_OUTPUT = 1536
MAX_ENLARGEMENT = 16.0
MIN_BOX = 8
"""Sides of what is shown in px: never below MIN_OUTPUT (processors fail), the longer one from LONG_OUTPUT,
where MAX_ENLARGEMENT allows it, to MAX_OUTPUT (model providers refuse much larger ones). Sides of the box
in original px: never below MIN_BOX, where the image has so many."""


def good_scale(longer: float) -> float:
    """Output pixels per original pixel for a longer side of `longer` original px."""
    return min(MAX_OUTPUT / longer, max(1.0, min(LONG_OUTPUT / longer, MAX_ENLARGEMENT)))


def whole(box: Box, image: Picture) -> Box:
    """`box` in whole pixels, as it will be cut."""
    return (
        float(math.floor(box[0])),
        float(math.floor(box[1])),
        float(min(math.ceil(box[2]), image.width)),
        float(min(math.ceil(box[3]), image.height)),
    )


def at_least(box: Box, least: float, image: Picture) -> Box:
    """`box`, grown around its centre until each side has `least` original px, or all there are."""
    left, right = _grown(box[0], box[2], math.ceil(least), image.width)
    top, bottom = _grown(box[1], box[3], math.ceil(least), image.height)
    return (left, top, right, bottom)


def check_sides(box: Box, scale: float, image: Picture) -> None:
    """ToolError `invalid_args` for a strip that cannot be shown."""
    if min(box[2] - box[0], box[3] - box[1]) * scale < MIN_OUTPUT - 1:
        message = (
            f"{shown(box)} is too small or too long a strip to be shown (the image is "
            f"{image.width}x{image.height} px): choose another part"
        )
        raise ToolError(message, "invalid_args")


def _grown(low: float, high: float, least: int, limit: int) -> tuple[float, float]:
    if high - low >= least:
        return low, high
    least = min(least, limit)
    start = min(max((low + high - least) // 2, 0.0), float(limit - least))
    return start, start + least
