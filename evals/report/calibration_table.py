"""The reliability table: confidence against accuracy."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, interval, number, percent
from fieldmark.evals.report.table import Table


def calibration_table(summary: Summary) -> Table:
    """No rows where no episode told a confidence."""
    told = summary.calibration
    rows = [
        [
            f"{percent(each.low)}–{percent(each.high)}",
            percent(each.confidence),
            count(each.correct),
            percent(each.correct.fraction),
            interval(each.interval),
        ]
        for each in told.bins
    ]
    note = (
        f"Of {counted(told.told, 'episode')} with a confidence, of {told.done} done. ECE "
        f"{number(told.ece, 3)}: the mean distance of the two, weighted by episodes, 0–1. "
        f"Brier {number(told.brier, 3)}. CI: Wilson's."
    )
    columns = "confidence %|mean %|correct /episodes|correct %|CI 95%".split("|")
    return Table("Calibration", note, columns, rows)
