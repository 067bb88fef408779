"""What the hits of a candidate say: leaked, copied, clean, or undetermined, which is discarded too.

The hits are kept as they were measured; a decision is a rule over them, so that a changed threshold decides
anew without a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from fieldmark.evals.curation.deciding import Said
from fieldmark.evals.curation.settings import LeakageSettings
from fieldmark.trace import Box

Status = Literal["leaked", "copied", "clean", "undetermined"]
KEPT: frozenset[Status] = frozenset({"copied", "clean"})


class Hit(BaseModel):
    """One hit of a search by picture, compared.

    `query`: what was asked; `score` and what follows as `verifying.Likeness` has them, `score` None where the
    found picture cannot be had or read. `read`: whether its page was; `gives`: why it gives the answer away,
    whether or not the picture is a copy. `overlay`: the picture of both, relative to the project's folder.
    """

    query: str
    page: str
    title: str
    score: float | None
    hash_distance: int = 256
    look: float = 0.0
    inliers: int = 0
    own: Box | None = None
    region: Box | None = None
    read: bool = False
    gives: str | None = None
    overlay: str | None = None


def decide(candidate: str, hits: Sequence[Hit], settings: LeakageSettings) -> Said:
    """Discard-oriented: a doubt is a drop."""
    status, why = status_of(hits, settings)
    evidence = {"status": status, "hits": [hit.model_dump(mode="json") for hit in hits]}
    return Said(candidate, "keep" if status in KEPT else "drop", f"{status}: {why}", evidence)


def status_of(hits: Sequence[Hit], settings: LeakageSettings) -> tuple[Status, str]:
    """The status and, in a line, what makes it."""
    copies = [hit for hit in hits if hit.score is not None and hit.score >= settings.copy_from]
    for hit in copies:
        if hit.gives:
            return "leaked", f"a copy (score {hit.score:.2f}) at {_named(hit)}: {hit.gives}"
    for hit in hits:
        if hit.score is None:
            return "undetermined", f"the picture at {_named(hit)} cannot be looked at"
        if settings.doubt_from <= hit.score < settings.copy_from:
            return "undetermined", f"{_named(hit)} may be a copy (score {hit.score:.2f})"
    for hit in copies:
        if not hit.read:
            return "undetermined", f"a copy at {_named(hit)}, whose page cannot be read"
    if copies:
        return "copied", f"{len(copies)} found, the first at {_named(copies[0])}; none gives the answer"
    return "clean", f"no copy among {len(hits)} hits"


def _named(hit: Hit) -> str:
    return hit.page or f"{hit.query}: {hit.title!r}"
