"""A picture on its way into a curation: made safe, named by its pixels, and seen as a near copy sees it."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import ExifTags, Image

from fieldmark.errors import DataFault
from fieldmark.evals.curation.sources.found import Found
from fieldmark.whole_file import write_whole

_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png"}
_LONG = 200
"""Characters of an EXIF value that are kept."""


@dataclass(frozen=True)
class Prepared:
    """`data`: the picture without metadata, in a file named with `suffix`. `sha256` is of the upright RGB
    pixels and their size. `look`: 32 bytes of a perceptual hash, `exif`: what the file said of itself.
    """

    data: bytes
    suffix: str
    sha256: str
    look: bytes
    exif: dict[str, Any]


def stamp(found: Found) -> str:
    """What changes when the picture does; of a file its size and time, so that nothing is read twice."""
    if isinstance(found.picture, bytes):
        return hashlib.sha256(found.picture).hexdigest()
    try:
        there = found.picture.stat()
    except OSError:
        return "missing"
    return f"{there.st_size} {there.st_mtime_ns}"


def prepare(found: Found, folder: Path) -> Prepared:
    """DataFault for what cannot be read, or what no model can take. `folder` takes the bytes of a row."""
    import numpy as np

    from fieldmark.tools.image_index.hashing import picture_hash
    from fieldmark.tools.pictures.images import open_upright, stage

    path = _file(found, folder)
    staged = stage(path)
    image = open_upright(staged.original)
    digest = hashlib.sha256(f"{image.width}x{image.height} ".encode() + image.tobytes()).hexdigest()
    look = picture_hash(np.asarray(image.convert("L"))).tobytes()
    suffix = _SUFFIXES.get(staged.original_meta.media_type, f".{staged.original_meta.media_type[6:]}")
    return Prepared(staged.original, suffix, digest, look, _exif(path))


def keep(prepared: Prepared, folder: Path) -> str:
    """Write it under a name that says nothing; the name. A kill leaves a whole file or none."""
    name = f"{prepared.sha256[:16]}{prepared.suffix}"
    if not (folder / name).exists():
        write_whole(folder / name, prepared.data)
    return name


def _file(found: Found, folder: Path) -> Path:
    if isinstance(found.picture, Path):
        return found.picture
    path = folder / ".row"
    path.write_bytes(found.picture)
    return path


def _exif(path: Path) -> dict[str, Any]:
    """Names and values of the tags as text, those of the place under `GPSInfo`."""
    try:
        with Image.open(io.BytesIO(path.read_bytes())) as image:
            tags = image.getexif()
            parts = {**dict(tags), **tags.get_ifd(ExifTags.IFD.Exif)}
            place = tags.get_ifd(ExifTags.IFD.GPSInfo)
    except (OSError, ValueError, SyntaxError, DataFault):
        return {}
    told: dict[str, Any] = {ExifTags.TAGS.get(tag, str(tag)): _text(value) for tag, value in parts.items()}
    if place:
        told["GPSInfo"] = {ExifTags.GPSTAGS.get(tag, str(tag)): _text(value) for tag, value in place.items()}
    return told


def _text(value: Any) -> str:
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return "".join(char for char in text if char.isprintable())[:_LONG]
