"""Google Landmarks v2: `train/a/b/c/ID.jpg`, `train.csv` (id, url, landmark_id), `train_attribution.csv` (id,
url, author, license, title), `train_label_to_category.csv` (landmark_id, category: an address at Commons).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from fieldmark.evals.curation.sources.found import Found, spelled
from fieldmark.evals.curation.sources.layouts.files import need, table

LICENCE = ""
_CATEGORY = re.compile(r".*?Category:")


def read(folder: Path) -> Iterator[Found]:
    """Only what lies on this disk: the whole set is 4 million pictures. The licence is each picture's own."""
    here = {path.stem: path for path in sorted((folder / "train").glob("?/?/?/*.jpg"))}
    names = {
        row["landmark_id"]: _CATEGORY.sub("", unquote(row["category"]))
        for row in table(need(folder, "**/train_label_to_category.csv")[0])
    }
    owners = {
        row["id"]: row for row in table(need(folder, "**/train_attribution.csv")[0]) if row["id"] in here
    }
    for row in table(need(folder, "**/train.csv")[0]):
        name = names.get(row["landmark_id"])
        if row["id"] in here and name:
            owner = owners.get(row["id"], {})
            told = {key: owner[key] for key in ("url", "author", "title") if owner.get(key)}
            known = {"id": row["id"], "landmark_id": row["landmark_id"], **told}
            origin = here[row["id"]].relative_to(folder).as_posix()
            yield Found(origin, here[row["id"]], name, spelled(name), owner.get("license", ""), known)
