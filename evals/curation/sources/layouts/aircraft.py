"""FGVC-Aircraft: `data/images/ID.jpg`, and `data/images_variant_SPLIT.txt` with a line `ID VARIANT` each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldmark.evals.curation.sources.found import Found
from fieldmark.evals.curation.sources.layouts.files import lines, need

LICENCE = "non-commercial research"
"""As its page says: the pictures belong to their photographers."""


def read(folder: Path) -> Iterator[Found]:
    """The finest level, the variant; splits beside one another."""
    data = folder / "data" if (folder / "data").is_dir() else folder
    for listing in need(data, "images_variant_*.txt"):
        split = listing.stem.rpartition("_")[2]
        if split == "trainval":
            continue  # the pictures of train and val, once more
        for line in lines(listing):
            number, _, variant = line.partition(" ")
            picture = data / "images" / f"{number}.jpg"
            yield Found(number, picture, variant, variant, LICENCE, {"id": number, "split": split})
