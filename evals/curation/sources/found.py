"""What a reader finds: a picture, the class that its source gives it, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIXES = frozenset(
    ".jpg .jpeg .png .webp .gif .tif .tiff .bmp .avif .heic .heif .ppm .pgm .jp2 .jfif".split()
)
"""File names that are taken for pictures in a folder; what is none is told, not skipped."""


@dataclass(frozen=True)
class Found:
    """`origin`: a name that stays the same when it is read again. `picture`: its file, or its bytes.

    `licence`: empty where the source does not say. `provenance`: URL, author, id, title, bounding box, …
    """

    origin: str
    picture: Path | bytes
    class_name: str
    label: str
    licence: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


def spelled(name: str) -> str:
    """How a folder's name is written as an answer: `great_blue_heron` → `great blue heron`."""
    return " ".join(name.replace("_", " ").split())


def pictures_in(folder: Path) -> list[Path]:
    """The picture files right in a folder, by name; hidden ones are none of them."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
    )
