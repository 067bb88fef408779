"""Wrong answers that are alike: same failure class, ended at the same act or boundary, same category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel

from fieldmark.evals.metrics.shares import Share

Kind = tuple[str, str, str]
"""(failure, at, top) of a wrong answer, each as an episode's row has it."""


class Cluster(BaseModel):
    """`at` is as `last_step` says it; `share` is over all wrong answers of the run."""

    failure: str
    at: str
    top: str
    share: Share


def clusters(wrong: Iterable[Kind]) -> list[Cluster]:
    """Every cluster of a run, the largest first; ties by name."""
    counted = Counter(wrong)
    n = counted.total()
    found = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        Cluster(failure=failure, at=at, top=top, share=Share.of(count, n))
        for (failure, at, top), count in found
    ]
