"""Oxford Flowers-102: `jpg/image_NNNNN.jpg`, and `imagelabels.mat` with a class id (1–102) for each.

The distribution has no names. `cat_to_name.json`, id → name, is the form in which others pass them on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.curation.sources.found import Found
from fieldmark.evals.curation.sources.layouts.files import listed, matlab, need

LICENCE = ""
NAMES = "cat_to_name.json"


def read(folder: Path) -> Iterator[Found]:
    """UsageError without the names: a number is no answer."""
    if not (folder / NAMES).is_file():
        raise UsageError(
            f'{folder} has no {NAMES} ({{"1": "pink primrose", …}}): the dataset gives only numbers'
        )
    names = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    for number, label in enumerate(listed(matlab(need(folder, "imagelabels.mat")[0])["labels"]), 1):
        file = f"image_{number:05}.jpg"
        name = names[str(int(label))]
        yield Found(f"jpg/{file}", folder / "jpg" / file, name, name, LICENCE, {"class_id": int(label)})
