"""What several epochs say: right at least once in k, right k times in k, and how far epochs differ.

Of a task with n epochs done, c of them correct, k looks drawn without replacement give, without bias,

    pass@k = 1 - C(n - c, k) / C(n, k)      at least one of k is correct (Chen et al. 2021, arXiv 2107.03374)
    all-k  = C(c, k) / C(n, k)              all k are correct (pass^k of tau-bench, arXiv 2406.12045)

Both are averaged over tasks with n >= k. k = 1 of both is strict accuracy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import comb, fsum
from statistics import stdev

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.bootstrap import resampled
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Interval, Share


class PassRow(BaseModel):
    """`once`: pass@k, `every`: all-k, both over tasks with k epochs done; intervals resample tasks."""

    k: int
    once: Share
    once_interval: Interval | None
    every: Share
    every_interval: Interval | None


class Repeats(BaseModel):
    """`by_epoch` is strict accuracy, epoch by epoch; `spread` the standard deviation of those fractions."""

    by_epoch: list[Share]
    spread: float | None
    rows: list[PassRow]


def repeats(cells: list[Cell]) -> Repeats | None:
    """None for a run of one epoch."""
    epochs = sorted({cell.epoch for cell in cells})
    if len(epochs) < 2:
        return None
    done: defaultdict[str, list[bool]] = defaultdict(list)
    each: dict[int, list[bool]] = {epoch: [] for epoch in epochs}
    for cell in (cell for cell in cells if cell.outcome in DONE):
        hit = cell.outcome in CORRECT
        done[cell.id].append(hit)
        each[cell.epoch].append(hit)
    tasks = [(len(hits), sum(hits)) for hits in done.values()]
    by_epoch = [Share.of(sum(hits), len(hits)) for hits in each.values()]
    fractions = [share.fraction for share in by_epoch if share.fraction is not None]
    return Repeats(
        by_epoch=by_epoch,
        spread=stdev(fractions) if len(fractions) > 1 else None,
        rows=[_row(k, [task for task in tasks if task[0] >= k]) for k in _shown(len(epochs))],
    )


def pass_at(n: int, c: int, k: int) -> float:
    """The chance that of k of n epochs, c of them correct, at least one is."""
    return 1 - comb(n - c, k) / comb(n, k)


def all_of(n: int, c: int, k: int) -> float:
    """The chance that k of n epochs, c of them correct, are all correct."""
    return comb(c, k) / comb(n, k)


def _row(k: int, tasks: list[tuple[int, int]]) -> PassRow:
    once, once_interval = _mean(pass_at, k, tasks)
    every, every_interval = _mean(all_of, k, tasks)
    return PassRow(k=k, once=once, once_interval=once_interval, every=every, every_interval=every_interval)


def _mean(
    of: Callable[[int, int, int], float], k: int, tasks: list[tuple[int, int]]
) -> tuple[Share, Interval | None]:
    values = [of(n, c, k) for n, c in tasks]
    return Share.of(fsum(values), len(values)), resampled(values, [1] * len(values))


def _shown(epochs: int) -> list[int]:
    """1, 2, 4, 8, … and all."""
    return sorted({*(2**power for power in range(epochs.bit_length()) if 2**power <= epochs), epochs})
