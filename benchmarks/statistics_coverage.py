"""Do intervals and tests hold what they promise: how often they cover the truth, and cry wolf, by simulation.

    python -m benchmarks.statistics_coverage [--runs 2000]

Each run of 311 tasks is drawn anew from known probabilities. In the paired ones the tasks are of 228
targets, as in FIKA-Bench, and those of one target are alike. An interval covers when the true value lies in
it; wanted are 93 to 97 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from fieldmark.evals.comparison.significance import PairedTable, exact_p, mid_p
from fieldmark.evals.metrics.bootstrap import resampled
from fieldmark.evals.metrics.shares import Interval, Share, wilson

TASKS, TARGETS, BASELINE, EFFECT, EPOCHS = 311, 228, 0.2, 0.08, 3
RESAMPLES = 1999


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    print(f"| interval | true value | covered, of {runs} |\n|---|---|---|")
    for name, truth, intervals in (
        ("Wilson, strict accuracy, 311 tasks", BASELINE, accuracies(runs)),
        ("bootstrap over tasks, 3 epochs", BASELINE, epochs(runs)),
        ("paired bootstrap by target, difference", EFFECT, differences(runs)),
        ("the same, no difference", 0.0, differences(runs, 0.0)),
    ):
        found = [each is not None and each.low <= truth <= each.high for each in intervals]
        print(f"| {name} | {truth:g} | {100 * sum(found) / runs:.1f} % |", flush=True)
    print("\n| McNemar at 0.05, equal runs | exact | mid-p |\n|---|---|---|")
    for tasks, flips in ((TASKS, 0.1), (TASKS, 0.2), (TASKS, 0.4), (43, 0.3)):
        _print_test(f"{tasks} tasks, {tasks * flips:.0f} flips expected", false_positives(tasks, flips))
    _print_test(f"{TASKS} tasks of {TARGETS} targets", clustered(10 * runs))


def _print_test(name: str, rates: tuple[float, float]) -> None:
    print(f"| {name} | {100 * rates[0]:.1f} % | {100 * rates[1]:.1f} % |", flush=True)


def false_positives(tasks: int, flips: float, pairs: int = 20_000) -> tuple[float, float]:
    """Shares of pairs of equally good runs that McNemar's tests, exact and mid-p, call different at 0.05."""
    drawn = np.random.default_rng(7).multinomial(tasks, [1 - flips, flips / 2, flips / 2], size=pairs)
    seen, counts = np.unique(drawn[:, 1:], axis=0, return_counts=True)
    tables = [PairedTable(both=0, only_a=int(a), only_b=int(b), neither=0) for a, b in seen]
    exact, mid = (counts[[p(table) <= 0.05 for table in tables]].sum() / pairs for p in (exact_p, mid_p))
    return float(exact), float(mid)


def clustered(pairs: int) -> tuple[float, float]:
    """The same where tasks share targets, as in `differences`: the tests take them as independent."""
    rng = np.random.default_rng(4)
    target = np.concatenate([np.arange(TARGETS), np.arange(TASKS - TARGETS)])
    found = []
    for _ in range(pairs):
        task = rng.random(TASKS)
        a, b = (np.where(rng.random(TASKS) < 0.5, task, _own(rng, target)) < BASELINE for _ in range(2))
        table = PairedTable(both=0, only_a=int((a & ~b).sum()), only_b=int((b & ~a).sum()), neither=0)
        found.append((exact_p(table) <= 0.05, mid_p(table) <= 0.05))
    exact, mid = np.mean(found, axis=0)
    return float(exact), float(mid)


def accuracies(runs: int) -> Iterator[Interval | None]:
    """Independent tasks, one epoch."""
    rng = np.random.default_rng(1)
    for _ in range(runs):
        yield wilson(Share.of(int((rng.random(TASKS) < BASELINE).sum()), TASKS))


def epochs(runs: int) -> Iterator[Interval | None]:
    """Each task has its own probability, drawn from a Beta distribution with the baseline as mean."""
    rng = np.random.default_rng(2)
    for run in range(runs):
        hard = rng.beta(BASELINE, 1 - BASELINE, TASKS)
        means = rng.binomial(EPOCHS, hard) / EPOCHS
        yield resampled(list(means), [1] * TASKS, seed=run, resamples=RESAMPLES)


def differences(runs: int, effect: float = EFFECT) -> Iterator[Interval | None]:
    """Two runs; half of a task's luck is shared by both of them, and half of the rest by its target."""
    rng = np.random.default_rng(3)
    target = np.concatenate([np.arange(TARGETS), np.arange(TASKS - TARGETS)])
    sizes = list(np.bincount(target))
    for run in range(runs):
        task = rng.random(TASKS)
        a, b = (np.where(rng.random(TASKS) < 0.5, task, _own(rng, target)) for _ in range(2))
        difference = (b < BASELINE + effect).astype(float) - (a < BASELINE)
        sums = np.bincount(target, weights=difference)
        yield resampled(list(sums), sizes, seed=run, resamples=RESAMPLES)


def _own(rng: np.random.Generator, target: np.ndarray) -> np.ndarray:
    by_target = rng.random(TARGETS)[target]
    return np.where(rng.random(TASKS) < 0.5, by_target, rng.random(TASKS))


if __name__ == "__main__":
    main()
