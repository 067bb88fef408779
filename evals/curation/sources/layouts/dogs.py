"""Stanford Dogs: `Images/nNNNNNNNN-Breed_name/*.jpg`; `annotation/` and the `.mat` lists are not needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources.found import Found, pictures_in, spelled
from fieldmark.evals.curation.sources.layouts.files import need

LICENCE = ""


def read(folder: Path) -> Iterator[Found]:
    """The class is the breed behind the WordNet id."""
    for place in need(folder, "Images/n*-*"):
        synset, _, breed = place.name.partition("-")
        for picture in pictures_in(place):
            origin = picture.relative_to(folder).as_posix()
            yield Found(origin, picture, place.name, spelled(breed), LICENCE, {"wordnet": synset})
