"""A decoded picture as a file, and what its bytes are."""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image

from fieldmark.errors import ToolError

_QUALITY = 95


@dataclass(frozen=True)
class Meta:
    """What the bytes of a picture are, whatever its file is called; sizes in pixels, upright."""

    media_type: str
    width: int
    height: int


def encode(image: Image.Image, media_type: str) -> bytes:
    """A PNG, or a JPEG of quality 95 without subsampling. ToolError `invalid_args` for another type."""
    buffer = io.BytesIO()
    if media_type == "image/png":
        image.save(buffer, "PNG", compress_level=3)
    elif media_type == "image/jpeg":
        image.save(buffer, "JPEG", quality=_QUALITY, subsampling=0)
    else:
        raise ToolError(f"media type {media_type!r}: expected image/png or image/jpeg", "invalid_args")
    return buffer.getvalue()
