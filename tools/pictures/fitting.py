"""A picture made to fit what a model's server takes: bytes of the file, and pixels.

Re-encoded as it is where that is enough, else shrunk by steps of 0.9 until it fits; the aspect is kept.
Pix2Fact's paper does so for its providers' limits (arXiv 2602.00593, section 4.1), by steps as these.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from PIL import Image

from fieldmark.errors import DataFault
from fieldmark.tools.pictures.encoding import Meta, encode
from fieldmark.tools.pictures.images import Cut, cut_decoded
from fieldmark.tools.pictures.upright import open_upright
from fieldmark.trace import Box, Contrast

STEP = 0.9


@dataclass(frozen=True)
class Room:
    """What one picture of a request may have: bytes of its file, and pixels in all."""

    most_bytes: int
    pixels: int

    def holds(self, data: bytes, meta: Meta) -> bool:
        return len(data) <= self.most_bytes and meta.width * meta.height <= self.pixels


@dataclass(frozen=True)
class Fitted:
    """`steps` of 0.9 each were needed; 0: it was only encoded anew, as a JPEG (q95, 4:4:4)."""

    data: bytes
    meta: Meta
    steps: int


def fit(data: bytes, meta: Meta, room: Room) -> Fitted | None:
    """None where it fits as it is; then nothing is decoded. DataFault `too_large` where it never will."""
    if room.holds(data, meta):
        return None
    image = open_upright(data)
    for steps in itertools.count():
        size = (round(image.width * STEP**steps), round(image.height * STEP**steps))
        if min(size) < 1:
            break
        if size[0] * size[1] <= room.pixels:
            made = _encoded(image, size)
            if len(made) <= room.most_bytes:
                return Fitted(made, Meta("image/jpeg", *size), steps)
    raise DataFault(
        f"no size of the picture fits into {room.most_bytes:,} bytes: allow more", kind="too_large"
    )


def cut_to_fit(
    image: Image.Image,
    box: Box | None,
    room: Room,
    *,
    scale: float,
    media_type: str,
    rotate: float = 0.0,
    contrast: Contrast = "none",
) -> Cut:
    """As `images.cut_decoded`, at a scale lowered by steps of 0.9 until the result fits; its `scale` says so.

    ToolError `invalid_args` also where no scale does.
    """
    while True:
        made = cut_decoded(image, box, scale=scale, media_type=media_type, rotate=rotate, contrast=contrast)
        if room.holds(made.data, Meta(media_type, *made.size)):
            return made
        scale = made.scale * STEP


def _encoded(image: Image.Image, size: tuple[int, int]) -> bytes:
    if size != image.size:
        image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    return encode(image, "image/jpeg")
