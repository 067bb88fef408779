from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.metrics.summary import summarise

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_median_p90_and_share_near_the_limit_on_both_clocks(build_run: BuildRun) -> None:
    run = build_run()
    for number in range(10):
        run.task(f"t{number}", top="Culture")
        seconds = 239.0 if number == 9 else 10.0 + number
        run.episode(f"t{number}", verdict="correct", seconds=seconds, charged=seconds - 1)
    wall, charged = (row for row in summarise(run.finish()).runtime if row.top == "Culture")
    assert (wall.clock, wall.median, wall.near_limit.fraction) == ("wall", 14.5, 0.1)
    assert wall.p90 == pytest.approx(18 + 0.1 * (239 - 18))  # type 7: between the 9th and the 10th value
    assert (charged.clock, charged.median, charged.near_limit.count) == ("charged", 13.5, 0)


def test_faults_of_ours_have_no_runtime(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a", status="sandbox_error", seconds=700.0)
    summary = summarise(run.finish())
    assert [(row.n, row.median, row.p90) for row in summary.runtime] == [(0, None, None)] * 2
    assert {row.status: row.count for row in summary.statuses}["sandbox_error"] == 1
