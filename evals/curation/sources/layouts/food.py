"""Food-101: `images/CLASS/ID.jpg`; `meta/classes.txt` and `meta/labels.txt` pair folder and name by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources.found import Found, pictures_in
from fieldmark.evals.curation.sources.layouts.files import lines, need

LICENCE = ""


def read(folder: Path) -> Iterator[Found]:
    """In the order of `classes.txt`."""
    meta = need(folder, "meta/classes.txt")[0].parent
    for name, label in zip(lines(meta / "classes.txt"), lines(meta / "labels.txt"), strict=True):
        for picture in pictures_in(folder / "images" / name):
            yield Found(f"images/{name}/{picture.name}", picture, name, label, LICENCE, {"id": picture.stem})
