"""Intervals by resampling whole clusters: tasks with their epochs, or targets with all their tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fieldmark.evals.metrics.shares import Interval

RESAMPLES = 9999
CONFIDENCE = 0.95
Statistic = Callable[..., Any]
"""Of arrays (resamples, cluster), one an argument, and `axis`, to an array (resamples,)."""


def resampled(
    sums: Sequence[float], sizes: Sequence[int], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval | None:
    """The 95 % percentile interval of sum(sums) / sum(sizes), one pair a cluster, drawn with replacement.

    The same seed gives the same interval. None where all clusters have one mean: resampling shows no spread
    then, which is no proof that there is none.
    """
    if len({total / size for total, size in zip(sums, sizes, strict=True)}) < 2:
        return None

    def ratio(total: Any, size: Any, axis: int = -1) -> Any:
        return total.sum(axis=axis) / size.sum(axis=axis)

    return _interval([sums, sizes], ratio, seed, resamples, paired=True)


def resampled_macro(
    groups: Sequence[Sequence[float]], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval | None:
    """The interval of the mean of the groups' means, each group drawn anew from itself; None: no spread."""
    if all(len(set(group)) < 2 for group in groups):
        return None

    def macro(*samples: Any, axis: int = -1) -> Any:
        return sum(sample.mean(axis=axis) for sample in samples) / len(samples)

    return _interval(groups, macro, seed, resamples, paired=False)


def _interval(
    samples: Sequence[Sequence[float]], statistic: Statistic, seed: int, resamples: int, *, paired: bool
) -> Interval:
    import numpy as np
    from scipy.stats import bootstrap

    # The statistic adds up; a sample of one value, which scipy refuses, may stand in it twice.
    widened = [np.asarray(sample if len(sample) > 1 else [*sample, *sample], float) for sample in samples]
    found = bootstrap(
        widened,
        statistic,
        paired=paired,
        vectorized=True,
        batch=1000,
        n_resamples=resamples,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(low=float(found.low), high=float(found.high))
