"""Width and height of an encoded picture from its header alone: nothing a sandbox sent is decoded here."""

from __future__ import annotations

import struct
from contextlib import suppress

_JPEG_SEGMENTS = 1000  # looked at before the frame header is given up on
_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})  # JPEG markers between 0xC0 and 0xCF that start no frame


def picture_size(data: bytes) -> tuple[int, int]:
    """(width, height) of a PNG, JPEG, GIF or WebP as its header claims; (0, 0) when it cannot be read."""
    with suppress(struct.error):
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack_from(">II", data, 16)
        if data.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack_from("<HH", data, 6)
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg(data)
    return (0, 0)


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        wide, high = struct.unpack_from("<I", data, 24)[0], struct.unpack_from("<I", data, 26)[0]
        return ((wide & 0xFFFFFF) + 1, (high >> 8) + 1)
    if kind == b"VP8L":
        packed = struct.unpack_from("<I", data, 21)[0]
        return ((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1)
    width, height = struct.unpack_from("<HH", data, 26)
    return (width & 0x3FFF, height & 0x3FFF)


def _jpeg(data: bytes) -> tuple[int, int]:
    at = 2
    for _ in range(_JPEG_SEGMENTS):
        marker, length = struct.unpack_from(">HH", data, at)
        if 0xFFC0 <= marker <= 0xFFCF and marker & 0xFF not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return (width, height)
        at += 2 + length
    return (0, 0)
