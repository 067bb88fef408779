"""Which pictures the leakage benchmark takes: photos, other views of them, and strangers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks._changes import encoded, rendered
from benchmarks.image_search import MINI, PLANTED, STRANGERS
from fieldmark.errors import DataFault
from fieldmark.tools.image_index.features import describe
from fieldmark.tools.image_index.hashing import SAME_BITS, Hash, distance
from fieldmark.tools.pictures.upright import open_upright

LARGE, SMALL, SIDE = 1400, 200, 1024
"""Longer sides in px: from which a photo is cut in two, below which a picture is left out, the most."""
DISTRACTORS = 200
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp"}
VIEWS = {"x01": "m17", "x02": "m22", "x03": "m13", "x04": "m03", "x05": "m24", "x06": "m01"}
"""Another photo of what a photo of fieldmark-mini shows (stereo pairs, another side, the box of a scene):
neither a copy nor a stranger, so they are counted apart.
"""
GRAPHICS = ("Fossa_", "Infinite-Sea_", "Painting-Colors_", "analogpattern_", "umang_")
"""Computer graphics in a package of photos: distractors."""


@dataclass(frozen=True)
class Photo:
    """`name` is its file's, with `-1` or `-2` for a half; `file` numbers the files: halves share it."""

    name: str
    file: int
    image: Image.Image


def photos(folders: list[Path]) -> list[Photo]:
    """The photos of fieldmark-mini and of `folders`, each once by its hash.

    A large one is cut into halves that share no pixel: two photos of one place, light and camera, of which
    each is the other's hardest stranger.
    """
    found: list[Photo] = []
    known = [describe(path.read_bytes()).hash for path in _views().values()]
    for path in [*PLANTED, *STRANGERS, *_files(folders)]:
        image = None if path.name.startswith(GRAPHICS) else _opened(path)
        if image is not None and _is_new(image, known):
            number = found[-1].file + 1 if found else 0
            parts = _halves(image)
            names = [path.stem] if len(parts) == 1 else [f"{path.stem}-1", f"{path.stem}-2"]
            found += [Photo(name, number, _small(part)) for name, part in zip(names, parts, strict=True)]
    return found


def views() -> dict[str, Image.Image]:
    """The other views, by the name of the photo that shows the same."""
    return {name: open_upright(path.read_bytes()) for name, path in _views().items()}


def distractors(folders: list[Path]) -> tuple[list[Image.Image], int]:
    """DISTRACTORS pictures from all over `folders`, and how many of them had to be rendered."""
    real = [path for path in _files(folders) if _is_large_enough(path)]
    chosen = np.linspace(0, len(real) - 1, min(len(real), DISTRACTORS)).astype(int)
    images = [image for number in chosen if (image := _opened(real[number]))]
    drawn = [rendered(seed) for seed in range(DISTRACTORS - len(images))]
    return [*map(_small, images), *drawn], len(drawn)


def _views() -> dict[str, Path]:
    return {photo: next((MINI / "index").glob(f"{view}.*")) for view, photo in VIEWS.items()}


def _files(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)


def _opened(path: Path) -> Image.Image | None:
    """None: unreadable or too small."""
    try:
        image = open_upright(path.read_bytes())
    except DataFault:
        return None
    return image if max(image.size) >= SMALL else None


def _is_large_enough(path: Path) -> bool:
    with Image.open(path) as image:
        return max(image.size) >= SMALL


def _is_new(image: Image.Image, known: list[Hash]) -> bool:
    """Not a copy of one of `known`, to which it is added."""
    own = describe(encoded(_small(image))).hash
    if any(distance(own, other) <= SAME_BITS for other in known):
        return False
    known.append(own)
    return True


def _halves(image: Image.Image) -> list[Image.Image]:
    width, height = image.size
    if max(image.size) < LARGE:
        return [image]
    if width >= height:
        return [image.crop((0, 0, width // 2, height)), image.crop((width // 2, 0, width, height))]
    return [image.crop((0, 0, width, height // 2)), image.crop((0, height // 2, width, height))]


def _small(image: Image.Image) -> Image.Image:
    image = image.copy()
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return image
