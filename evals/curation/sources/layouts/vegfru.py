"""VegFru: `veg200_images/CLASS/*.jpg` and `fru92_images/CLASS/*.jpg`; the lists of splits are not needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources.found import Found, pictures_in, spelled
from fieldmark.evals.curation.sources.layouts.files import need

LICENCE = ""


def read(folder: Path) -> Iterator[Found]:
    """Either half may be missing. A class is named with its half: both have names of their own."""
    for place in need(folder, "*_images/*"):
        for picture in pictures_in(place) if place.is_dir() else []:
            origin = picture.relative_to(folder).as_posix()
            half = "vegetable" if place.parent.name.startswith("veg") else "fruit"
            yield Found(origin, picture, place.name, spelled(place.name), LICENCE, {"half": half})
