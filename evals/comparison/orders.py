"""What the order of the tasks does: between whole orders, and along the way from cold to warm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from pydantic import BaseModel

from fieldmark.evals.comparison.paired import Side, is_right
from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.bootstrap import RESAMPLES, resampled
from fieldmark.evals.metrics.outcomes import DONE
from fieldmark.evals.metrics.shares import Interval, Share, wilson

QUARTERS = 4
Orders = Mapping[int | None, Side]
"""The runs of one arm by their order; None where the study has no orders."""


class OrderEffect(BaseModel):
    """The orders of one arm, over the `tasks` that all of them have done; fractions 0–1.

    `accuracies`: order → strict accuracy; `sd` their standard deviation. `unstable`: tasks that are right in
    some orders and wrong in others. `p`: how often orders that do not matter differ as much as these do.
    """

    arm: str
    tasks: int
    accuracies: dict[int, float]
    sd: float
    unstable: int
    p: float


class Quarter(BaseModel):
    """One quarter of the way through the tasks (1 first … 4 last), over all orders of an arm.

    `correct` counts looks (task × epoch × order) that are done there; its `interval` is by target.
    `difference` is that of the same looks to those of the arm `against` in the same order, None where it has
    none.
    """

    arm: str
    quarter: int
    correct: Share
    interval: Interval | None
    against: str | None
    paired: int
    difference: float | None
    difference_interval: Interval | None


def order_effect(arm: str, orders: Orders, *, seed: int = 0) -> OrderEffect | None:
    """None where there are not two orders, or no task that two have done."""
    numbered = {order: side for order, side in orders.items() if order is not None}
    sides = list(numbered.values())
    tasks = [task for task in sides[0].scores if all(task in side.scores for side in sides)] if sides else []
    if len(sides) < 2 or not tasks:
        return None
    scores = [[side.scores[task] for task in tasks] for side in sides]
    means = [fmean(each) for each in scores]
    right = [[is_right(score) for score in each] for each in zip(*scores, strict=True)]
    return OrderEffect(
        arm=arm, tasks=len(tasks), accuracies=dict(zip(numbered, means, strict=True)), sd=stdev(means),
        unstable=sum(len(set(each)) > 1 for each in right), p=_order_p(scores, seed),
    )  # fmt: skip


def quarters(
    arm: str, orders: Orders, baseline: Orders | None, *, against: str | None = None, seed: int = 0
) -> list[Quarter]:
    """The warm-against-cold curve of an arm; `baseline`, named `against`, is None for the baseline itself."""
    hits: list[dict[str, list[float]]] = [defaultdict(list) for _ in range(QUARTERS)]
    differences: list[dict[str, list[float]]] = [defaultdict(list) for _ in range(QUARTERS)]
    for order, side in orders.items():
        other = _looks(baseline[order]) if baseline and order in baseline else {}
        for look, (place, hit) in _looks(side).items():
            target = side.targets.get(look[0]) or look[0]
            hits[place][target].append(hit)
            if look in other:
                differences[place][target].append(hit - other[look][1])
    found = [_quarter(arm, place, hits[place], differences[place], seed) for place in range(QUARTERS)]
    return [each.model_copy(update={"against": against}) for each in found]


def _looks(side: Side) -> dict[tuple[str, int], tuple[int, float]]:
    """(task, epoch) of a run that is done → its quarter from 0, and whether it is correct.

    The way is that through the tasks of one epoch: each epoch begins cold.
    """
    places = {task: place * QUARTERS // len(side.ids) for place, task in enumerate(side.ids)}
    return {
        (cell.id, cell.epoch): (places[cell.id], float(cell.outcome in CORRECT))
        for cell in side.cells
        if cell.outcome in DONE
    }


def _quarter(
    arm: str, place: int, hits: dict[str, list[float]], differences: dict[str, list[float]], seed: int
) -> Quarter:
    correct = Share.of(sum(map(sum, hits.values())), sum(map(len, hits.values())))
    alone = all(len(each) == 1 for each in hits.values())
    paired = sum(map(len, differences.values()))
    return Quarter(
        arm=arm, quarter=place + 1, correct=correct,
        interval=wilson(correct) if alone else _by_target(hits.values(), seed) or wilson(correct),
        against=None,
        paired=paired,
        difference=sum(map(sum, differences.values())) / paired if paired else None,
        difference_interval=_by_target(differences.values(), seed),
    )  # fmt: skip


def _by_target(looks: Iterable[Sequence[float]], seed: int) -> Interval | None:
    found = list(looks)
    return resampled([sum(each) for each in found], [len(each) for each in found], seed=seed)


def _order_p(scores: Sequence[Sequence[float]], seed: int) -> float:
    """A permutation test: each task's scores are dealt anew to the orders. The statistic is the variance of
    the orders' means. Exact where the deals are few, else by `RESAMPLES` of them.
    """
    import numpy as np
    from scipy.stats import permutation_test

    def between(*samples: Any, axis: int = -1) -> Any:
        return np.var([sample.mean(axis=axis) for sample in samples], axis=0)

    moving = [each for each in zip(*scores, strict=True) if len(set(each)) > 1]  # the others move no mean
    if not moving:
        return 1.0
    samples = [np.asarray(each, float) for each in zip(*moving, strict=True)]
    if len(moving) == 1:  # every deal of one task has the same variance
        return 1.0
    found = permutation_test(
        samples, between, permutation_type="samples", vectorized=True, n_resamples=RESAMPLES, batch=1000,
        alternative="greater", rng=np.random.default_rng(seed),
    )  # fmt: skip
    return float(found.pvalue)
