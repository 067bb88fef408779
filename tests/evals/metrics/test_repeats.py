"""Several epochs of one run: n stays the tasks, pass@k and all-k are told apart."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.metrics.repeats import all_of, pass_at
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.sections import tables

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

HITS = {"q1": "110", "q2": "000", "q3": "111", "q4": "100"}


def test_pass_at_k_and_all_k_over_tasks(build_run: BuildRun) -> None:
    run = build_run(epochs=3)
    for task, hits in HITS.items():
        run.task(task)
        for epoch, hit in enumerate(hits):
            run.episode(task, epoch=epoch, verdict="correct" if hit == "1" else "incorrect")
    summary = summarise(run.finish())
    told = summary.repeats
    assert told is not None
    assert [(row.k, row.once.n) for row in told.rows] == [(1, 4), (2, 4), (3, 4)]
    assert [row.once.fraction for row in told.rows] == pytest.approx([0.5, 2 / 3, 0.75])
    assert [row.every.fraction for row in told.rows] == pytest.approx([0.5, 1 / 3, 0.25])
    assert [share.fraction for share in told.by_epoch] == [0.75, 0.5, 0.25]
    assert told.spread == pytest.approx(0.25)
    headline = summary.accuracy.headline
    assert headline.strict.n == 4  # tasks, not 12 episodes
    assert headline.interval is not None
    assert headline.interval.low < 0.25
    assert headline.interval.high > 0.75
    assert "Epochs" in [table.title for table in tables(summary)]


@pytest.mark.parametrize(("n", "c", "k"), [(3, 2, 2), (5, 1, 3), (5, 4, 3), (4, 0, 2), (4, 4, 4)])
def test_both_are_what_all_draws_give(n: int, c: int, k: int) -> None:
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert all_of(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_an_epoch_that_is_still_to_run_makes_the_run_partial(build_run: BuildRun) -> None:
    run = build_run(epochs=2).task("a")
    run.episode("a", verdict="correct")
    summary = summarise(run.finish())
    assert summary.partial
    assert summary.repeats is not None
    assert [(row.k, row.once.n) for row in summary.repeats.rows] == [(1, 1), (2, 0)]


def test_one_epoch_has_no_such_table(build_run: BuildRun) -> None:
    run = build_run(epochs=1).task("a")
    run.episode("a", verdict="correct")
    assert summarise(run.finish()).repeats is None
