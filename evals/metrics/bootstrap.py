"""Intervals by resampling whole clusters: tasks with their epochs, or targets with all their tasks."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.metrics.shares import Interval

RESAMPLES = 9999
CONFIDENCE = 0.95


def resampled(
    sums: Sequence[float], sizes: Sequence[int], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval | None:
    """The 95 % percentile interval of sum(sums) / sum(sizes), one pair a cluster, drawn with replacement.

    The same seed gives the same interval. None where all clusters have one mean: resampling shows no spread
    then, which is no proof that there is none.
    """
    if len({total / size for total, size in zip(sums, sizes, strict=True)}) < 2:
        return None
    import numpy as np
    from scipy.stats import bootstrap

    def ratio(total: np.ndarray, size: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(total.sum(axis=axis) / size.sum(axis=axis))

    found = bootstrap(
        (np.asarray(sums, float), np.asarray(sizes, float)),
        ratio,
        paired=True,
        vectorized=True,
        batch=1000,
        n_resamples=resamples,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(low=float(found.low), high=float(found.high))
