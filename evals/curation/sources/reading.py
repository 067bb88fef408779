"""From what the user names to the reader that reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.curation.sources import folders, hugging_face, rows
from fieldmark.evals.curation.sources.found import Found
from fieldmark.evals.curation.sources.layouts import (
    aircraft,
    cars,
    dogs,
    flowers,
    food,
    landmarks,
    met,
    minerals,
    objects,
    vegfru,
)

LAYOUTS: dict[str, Callable[[Path], Iterator[Found]]] = {
    "fgvc-aircraft": aircraft.read,
    "stanford-cars": cars.read,
    "stanford-dogs": dogs.read,
    "oxford-flowers-102": flowers.read,
    "food-101": food.read,
    "vegfru": vegfru.read,
    "google-landmarks-v2": landmarks.read,
    "minerals": minerals.read,
    "met-open-access": met.read,
    "amazon-berkeley-objects": objects.read,
}
"""The source datasets of FIKA-Bench's public part, each as it is distributed."""


def read(place: Path, layout: str | None = None, licence: str = "") -> Iterator[Found]:
    """`licence`: for pictures whose source names none. UsageError: nothing there that can be read."""
    for found in _read(place, layout):
        yield found if found.licence or not licence else replace(found, licence=licence)


def _read(place: Path, layout: str | None) -> Iterator[Found]:
    if layout:
        if not place.is_dir():
            raise UsageError(f"{place} is no folder: --layout reads the unpacked folder of {layout}")
        return LAYOUTS[layout](place)
    if place.is_file() and place.suffix.lower() in rows.SUFFIXES:
        return rows.read(place)
    if not place.is_dir():
        raise UsageError(f"{place} is not there, or no folder, CSV, JSONL or Parquet file: name one of these")
    return hugging_face.read(place) if hugging_face.is_one(place) else folders.read(place)
