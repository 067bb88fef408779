"""A folder for each class, at any depth: the class is the folder that a picture lies in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.curation.sources.found import Found, pictures_in, spelled


def read(folder: Path) -> Iterator[Found]:
    """UsageError: no picture, or pictures that lie in no class folder."""
    if loose := pictures_in(folder):
        raise UsageError(
            f"{folder}: {loose[0].name} lies in no class folder: make a folder for each class, or name a CSV,"
            " JSONL or Parquet file with the columns image and label"
        )
    anything = False
    for place in sorted(path for path in folder.rglob("*") if path.is_dir() and not _hidden(path, folder)):
        for picture in pictures_in(place):
            anything = True
            origin = picture.relative_to(folder).as_posix()
            yield Found(origin, picture, place.name, spelled(place.name))
    if not anything:
        raise UsageError(f"{folder} holds no picture: name a folder with a folder for each class")


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)
