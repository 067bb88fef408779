"""Takes metadata out of JPEG and PNG files byte by byte: no pixel is decoded or encoded again.

Colour profiles are dropped as well, so that readers with and without colour management see one picture.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

_SOI, _EOI, _SOS, _APP0, _APP14 = 0xD8, 0xD9, 0xDA, 0xE0, 0xEE
_COMMENT = 0xFE
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_SCAN_END = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]")
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})


def strip_jpeg(data: bytes) -> bytes:
    """Without APPn and comment segments and what follows the end of the picture (thumbnails, videos).

    JFIF (APP0) and Adobe (APP14) stay: decoders need them to tell the colour model.
    Raises ValueError where the segments cannot be followed.
    """
    return b"\xff\xd8" + b"".join(_jpeg_pieces(data)) + b"\xff\xd9"


def _jpeg_pieces(data: bytes) -> Iterator[bytes]:
    position = 2
    while True:
        position, marker = _jpeg_marker(data, position)
        if marker == _EOI:
            return
        if marker in _STANDALONE:
            yield bytes((0xFF, marker))
            continue
        end = position + _length(data, position)
        if _needed(marker, data[position + 2 : end]):
            yield bytes((0xFF, marker)) + data[position:end]
        position = end
        if marker == _SOS:
            found = _SCAN_END.search(data, position)
            if found is None:  # some writers leave the end marker out
                yield data[position:]
                return
            yield data[position : found.start()]
            position = found.start()


def _jpeg_marker(data: bytes, position: int) -> tuple[int, int]:
    """The marker at `position` and where its body starts; any number of fill bytes may precede it."""
    if data[position : position + 1] != b"\xff":
        raise ValueError(f"no JPEG marker at byte {position}")
    while data[position : position + 1] == b"\xff":
        position += 1
    if position >= len(data):
        raise ValueError("the JPEG ends inside a marker")
    return position + 1, data[position]


def _length(data: bytes, position: int) -> int:
    if position + 2 > len(data):
        raise ValueError("the JPEG ends inside a segment")
    return int(struct.unpack_from(">H", data, position)[0])


def _needed(marker: int, body: bytes) -> bool:
    if marker == _APP0:
        return body.startswith(b"JFIF\0")
    return marker == _APP14 or not (0xE0 <= marker <= 0xEF or marker == _COMMENT)


def png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name, body) of each chunk up to IEND; ends silently where the file is cut."""
    position = len(_PNG_SIGNATURE)
    while position + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        yield name, data[position + 8 : position + 8 + length]
        if name == b"IEND":
            return
        position += 12 + length


def strip_png(data: bytes) -> bytes:
    """Only the chunks that make the pixels; an animation becomes its default image."""
    import zlib

    pieces = [_PNG_SIGNATURE]
    for name, body in png_chunks(data):
        if name in _PNG_KEPT:
            pieces.append(struct.pack(">I", len(body)) + name + body)
            pieces.append(struct.pack(">I", zlib.crc32(name + body)))
    return b"".join(pieces)
