"""What a cut is given on request: a turn about its middle, and more contrast."""

from __future__ import annotations

from PIL import Image

_RIGHT_TURNS = {
    90: Image.Transpose.ROTATE_270,  # Pillow counts anticlockwise
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_90,
}
_CORNERS = (128, 128, 128)
"""What stands, after an oblique turn, where nothing of the box is."""

_CLIPPED = 0.005
"""The share of pixels at either end of the brightness that may be lost."""


def turned(image: Image.Image, degrees: float) -> Image.Image:
    """`image` (RGB) turned clockwise and whole: right angles exact, others bilinear with grey corners."""
    if degrees % 360 == 0:
        return image
    if degrees % 90 == 0:
        return image.transpose(_RIGHT_TURNS[int(degrees % 360)])
    return image.rotate(-degrees, Image.Resampling.BILINEAR, expand=True, fillcolor=_CORNERS)


def levelled(image: Image.Image) -> tuple[Image.Image, tuple[int, int]]:
    """`image` (RGB) with its brightness stretched, alike in all three channels, and the (low, high) that
    became 0 and 255. A picture of one brightness stays as it is.
    """
    low, high = _levels(image.convert("L").histogram())
    if (low, high) == (0, 255) or low >= high:
        return image, (low, high)
    table = [min(max(round((value - low) * 255 / (high - low)), 0), 255) for value in range(256)]
    return image.point(table * 3), (low, high)


def _levels(histogram: list[int]) -> tuple[int, int]:
    spare = sum(histogram) * _CLIPPED
    return _first_beyond(histogram, spare), 255 - _first_beyond(histogram[::-1], spare)


def _first_beyond(counts: list[int], spare: float) -> int:
    seen = 0
    for value, count in enumerate(counts):
        seen += count
        if seen > spare:
            return value
    return 0
