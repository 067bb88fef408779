"""Accuracy of the episodes that used a tool, and of those that did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.act_tables import marginal_table

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_with_and_without_each_tool(build_run: BuildRun) -> None:
    """Two calls in an episode are one use; what broke through our fault is in neither."""
    run = build_run()
    for place, (calls, right) in enumerate(
        [(["ocr", "ocr"], True), (["ocr", "crop_zoom"], False), ([], True), ([], False), ([], False)]
    ):
        episode = run.task(f"t{place}").episode(f"t{place}", verdict="correct" if right else "incorrect")
        episode.step(*((name, "ok") for name in calls))
    run.task("broken").episode("broken", status="sandbox_error").step(("ocr", "ok"))
    summary = summarise(run.finish())
    found = {
        row.tool: (row.used.count, row.used.n, row.unused.count, row.unused.n) for row in summary.marginal
    }
    assert found == {"ocr": (1, 2, 1, 3), "crop_zoom": (0, 1, 2, 4)}
    table = marginal_table(summary)
    assert table.rows[0][:3] == ["ocr", "1/2", "50.0"]
    assert "Not causal" in table.note


def test_epochs_are_no_independent_samples(build_run: BuildRun) -> None:
    run = build_run(config={"epochs": 2}, epochs=2).task("t")
    for epoch in (0, 1):
        run.episode("t", epoch=epoch, verdict="correct").step(("ocr", "ok"))
    (row,) = summarise(run.finish()).marginal
    assert (row.used.n, row.used_interval) == (2, None)
