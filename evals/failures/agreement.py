"""How far two raters agree who labelled the same answers: Cohen's κ, from statsmodels.

The interval is the 95 % one of the large-sample variance of Fleiss, Cohen & Everitt (1969, Psychological
Bulletin 72:323), κ ± 1.96 standard errors, cut at -1 and 1. It is too narrow for a few dozen answers. Where
that variance is 0 (the raters always agree, never do, or one of them uses one class only) it says nothing and
there is no interval; where chance alone would make them agree always there is no κ either. `why` says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel

from fieldmark.evals.metrics.shares import Share


class Agreement(BaseModel):
    """`kappa` is -1 to 1, None where it is not defined; `interval` is (low, high); `why`: what is missing.

    `matrix[i][j]`: answers that `first` gave `classes[i]` and `second` `classes[j]`. Only classes that one
    of them used. `raw`: the answers with one and the same class.
    """

    first: str
    second: str
    n: int
    raw: Share
    kappa: float | None
    interval: tuple[float, float] | None
    why: str
    classes: list[str]
    matrix: list[list[int]]


def agreement(first: str, second: str, pairs: Sequence[tuple[str, str]]) -> Agreement:
    """`pairs`: the class that each rater, `first` and `second` by name, gave the same answer."""
    classes = sorted({label for pair in pairs for label in pair})
    count = Counter(pairs)
    matrix = [[count[one, other] for other in classes] for one in classes]
    kappa, interval, why = _kappa(matrix)
    return Agreement(
        first=first,
        second=second,
        n=len(pairs),
        raw=Share.of(sum(one == other for one, other in pairs), len(pairs)),
        kappa=kappa,
        interval=interval,
        why=why,
        classes=classes,
        matrix=matrix,
    )


def _kappa(matrix: list[list[int]]) -> tuple[float | None, tuple[float, float] | None, str]:
    if not matrix:
        return None, None, "no answer was labelled by both"
    if len(matrix) == 1:
        return None, None, "both used one and the same class, so chance alone makes them agree"
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    with np.errstate(invalid="ignore"):  # it also divides by a variance of 0, for a test that is not used
        found = cohens_kappa(matrix)
    kappa = float(found.kappa)
    if not found.var_kappa > 0:
        return kappa, None, "no variance to make an interval of"
    return kappa, (max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp))), ""
