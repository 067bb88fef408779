"""A blob of a run for a browser: pictures as pictures, everything else as plain text."""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.blobs import BlobStore

_STARTS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Served:
    """`media_type` is what the bytes are, whatever a trace or a file name says they are."""

    data: bytes
    media_type: str


def served(blobs: BlobStore, digest: str) -> Served | None:
    """The blob of this sha256; None without one, or when its content is another: a link out of the folder."""
    try:
        data = blobs.get(digest)
    except (KeyError, OSError):
        return None
    return Served(data, _media_type(data))


def _media_type(data: bytes) -> str:
    """A raster picture by its first bytes. SVG and HTML can hold script: they are text."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS if data.startswith(start)), TEXT)
