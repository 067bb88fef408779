"""Amazon Berkeley Objects: `listings/metadata/listings_N.json.gz`, a product a line, with a `main_image_id`;
`images/metadata/images.csv.gz` (image_id, height, width, path) says where that is, in `images/original/` or
`images/small/`.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldmark.evals.curation.sources.found import Found, spelled
from fieldmark.evals.curation.sources.layouts.files import need

LICENCE = "CC-BY-NC-4.0"


def read(folder: Path) -> Iterator[Found]:
    """A product a class: its name in English, else in the first language there is. Its main picture alone."""
    root = folder / "images" / ("original" if (folder / "images" / "original").is_dir() else "small")
    with gzip.open(
        need(folder, "images/metadata/images.csv.gz")[0], "rt", encoding="utf-8", newline=""
    ) as file:
        paths = {row["image_id"]: row["path"] for row in csv.DictReader(file)}
    for listing in need(folder, "listings/metadata/listings_*.json.gz"):
        with gzip.open(listing, "rt", encoding="utf-8") as file:
            for product in map(json.loads, file):
                path, name = paths.get(product.get("main_image_id", "")), _name(product)
                if path and name and (root / path).is_file():
                    told = {
                        "id": product["item_id"],
                        "author": "Amazon.com",
                        "brand": _name(product, "brand"),
                    }
                    yield Found(path, root / path, product["item_id"], spelled(name), LICENCE, told)


def _name(product: dict[str, Any], key: str = "item_name") -> str:
    values = product.get(key) or []
    english = [each for each in values if str(each.get("language_tag", "")).startswith("en")]
    return str((english or values or [{"value": ""}])[0]["value"])
