"""What a picture shows, in the words of ImageNet: 1,000 classes, each with a coarser group.

`imagenet_classes.tsv` has a line `name<TAB>group` for each class of ILSVRC 2012, in the order of the
network's scores. Names are the first of ImageNet's own where it is clear, else a common one; groups are ours.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fieldmark.tools.pictures.upright import open_upright
from fieldmark.tools.vision.lite0 import class_scores

SURE = 0.5
"""A best score from here up is worth something: of 33 photos 12 had one, and it named the thing on 7 and the
likest class on 5 (one squirrel for another); of the other 21 it named the thing on 3."""

_TABLE = Path(__file__).parent / "imagenet_classes.tsv"
_GROUPS = 3


@cache
def class_names() -> tuple[tuple[str, str], ...]:
    """(name, group) of each class, in order."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    return tuple((name, group) for name, _, group in (line.partition("\t") for line in lines))


def classify(data: bytes, limit: int) -> dict[str, Any]:
    """The `limit` best classes of a picture file, and the best groups with the sums of their classes' scores.

    `{"found", "classes": [{"name", "group", "score"}], "groups": [{"group", "score"}]}`; `found` is whether
    the best score reaches SURE. DataFault: unreadable picture. ToolError `unavailable`: not installed.
    """
    scores = class_scores(np.asarray(open_upright(data), np.uint8))
    best = np.argsort(-scores, kind="stable")[:limit]
    classes = [_row("name", class_names()[place][0], scores[place]) for place in best]
    for row, place in zip(classes, best, strict=True):
        row["group"] = class_names()[place][1]
    return {"found": bool(scores[best[0]] >= SURE), "classes": classes, "groups": _groups(scores.tolist())}


def _groups(scores: list[float]) -> list[dict[str, Any]]:
    sums: dict[str, float] = defaultdict(float)
    for (_, group), score in zip(class_names(), scores, strict=True):
        sums[group] += score
    best = sorted(sums.items(), key=lambda item: -item[1])[:_GROUPS]
    return [_row("group", group, score) for group, score in best]


def _row(key: str, value: str, score: float) -> dict[str, Any]:
    return {key: value, "score": round(float(score), 3)}
