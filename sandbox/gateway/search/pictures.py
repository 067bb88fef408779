"""Pictures of a search by picture: the copy that is sent out, and which finds are the same picture."""

from __future__ import annotations

import io

from PIL import Image

from fieldmark.errors import EpisodeFault, ToolError
from fieldmark.sandbox.gateway.search.serpapi import MAX_UPLOAD
from fieldmark.tools.image_index.features import describe
from fieldmark.tools.image_index.hashing import SAME_BITS, distance
from fieldmark.tools.pictures import images
from fieldmark.trace import Box

SIDE = 1_600
"""Longer side, in pixels, of what is sent at most; Lens looks at less."""
_QUALITIES = (90, 80, 65)
_SMALLER, _TIMES = 0.7, 6


def small_jpeg(picture: bytes, box: Box | None) -> bytes:
    """The picture, or a box of it in its pixels, as a JPEG without metadata of at most MAX_UPLOAD bytes.

    The same bytes each time, so that a search can be replayed. ToolError `invalid_args`: a box outside.
    """
    part = images.cut(picture, box, scale=1.0, media_type="image/jpeg", max_side=SIDE)[0]
    image = Image.open(io.BytesIO(part)).convert("RGB")
    for _ in range(_TIMES):
        for quality in _QUALITIES:
            buffer = io.BytesIO()
            image.save(buffer, "JPEG", quality=quality)
            if buffer.tell() <= MAX_UPLOAD:
                return buffer.getvalue()
        image = image.resize((max(1, int(image.width * _SMALLER)), max(1, int(image.height * _SMALLER))))
    raise ToolError(f"the picture does not fit into {MAX_UPLOAD:,} bytes: take a box of it", "runtime")


def same_as(picture: bytes, box: Box | None, others: list[bytes]) -> list[bool | None]:
    """Whether each file is the picture, or that box of it, by perceptual hash; None: it cannot be read."""
    own = [describe(picture).hash]
    if box is not None:
        own.append(describe(images.cut(picture, box, scale=1.0, media_type="image/png")[0]).hash)

    def same(data: bytes) -> bool | None:
        try:
            other = describe(data).hash
        except EpisodeFault:
            return None
        return min(distance(known, other) for known in own) <= SAME_BITS

    return [same(data) for data in others]
