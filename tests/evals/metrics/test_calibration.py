"""Confidence against accuracy, of constructed episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.sections import tables

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_the_error_weighs_bins_by_their_episodes(build_run: BuildRun) -> None:
    """Three of four right at 0.95, none of one at 0.2, and one without a confidence."""
    run = build_run()
    told = [(0.95, "1"), (0.95, "1"), (1.0, "1"), (0.9, "0"), (0.2, "0"), (None, "1")]
    for place, (confidence, hit) in enumerate(told):
        run.task(f"t{place}")
        episode = run.episode(f"t{place}", verdict="correct" if hit == "1" else "incorrect")
        episode.record["confidence"] = confidence
    summary = summarise(run.finish())
    found = summary.calibration
    assert (found.told, found.done) == (5, 6)
    assert [(each.low, each.correct.count, each.correct.n) for each in found.bins] == [
        (0.2, 0, 1),
        (0.9, 3, 4),
    ]
    assert found.ece == pytest.approx((abs(0.95 - 0.75) * 4 + 0.2 * 1) / 5)
    assert found.brier == pytest.approx((0.05**2 * 2 + 0 + 0.9**2 + 0.2**2) / 5)
    assert "Calibration" in [table.title for table in tables(summary)]


def test_without_confidence_there_is_no_table(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a", verdict="correct")
    summary = summarise(run.finish())
    assert summary.calibration.ece is None
    assert "Calibration" not in [table.title for table in tables(summary)]
