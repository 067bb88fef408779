"""How the episodes of a run ended."""

from __future__ import annotations

from typing import get_args

from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import percent
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table
from fieldmark.records import Status


def statuses_table(summary: Summary) -> Table:
    """The agent's five statuses, ours, and what was not run."""
    note = "The agent's statuses count in every denominator; ours is apart, and --resume tries it again."
    rows = [
        [row.status, row.whose, str(row.count), str(row.of), percent(row.count / row.of if row.of else None)]
        for row in summary.statuses
    ]
    behind = {
        (line, 2): Selection.of(status=row.status)
        for line, row in enumerate(summary.statuses)
        if row.status in get_args(Status)
    }
    columns = ["status", "whose", "episodes", "of", "%"]
    return Table("How episodes ended", note, columns, rows, 2, behind=behind)
