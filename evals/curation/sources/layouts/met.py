"""The Met Open Access: `MetObjects.csv`, and pictures called by their Object ID, which are loaded apart.

The CSV has no picture and no address of one: whoever loads them by the museum's API calls each `ID.jpg`
(or `ID_1.jpg`, …) in `images/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources.found import Found, pictures_in, spelled
from fieldmark.evals.curation.sources.layouts.files import need, table

LICENCE = "CC0-1.0"
_KEPT = {
    "Object Number": "object_number", "Object Name": "object_name", "Culture": "culture",
    "Object Date": "date", "Artist Display Name": "author", "Link Resource": "url",
}  # fmt: skip


def read(folder: Path) -> Iterator[Found]:
    """Only works in the public domain. The class is the work, by its Object ID; the answer its title."""
    pictures: dict[str, list[Path]] = {}
    for picture in pictures_in(folder / "images") if (folder / "images").is_dir() else []:
        pictures.setdefault(picture.stem.partition("_")[0], []).append(picture)
    for row in table(need(folder, "MetObjects.csv")[0]):
        number, title = row["Object ID"], row["Title"] or row["Object Name"]
        if row["Is Public Domain"].lower() != "true" or not title:
            continue
        told = {ours: row[theirs] for theirs, ours in _KEPT.items() if row.get(theirs)}
        for picture in pictures.get(number, []):
            origin = f"images/{picture.name}"
            yield Found(origin, picture, f"met-{number}", spelled(title), LICENCE, {"id": number, **told})
