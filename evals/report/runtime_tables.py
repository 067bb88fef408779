"""Runtime on two clocks, and how it is spread."""

from __future__ import annotations

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.runtime import NEAR_LIMIT
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, number, percent
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table


def runtime_table(summary: Summary) -> Table:
    """Median, p90 and the share near the limit, of each category and clock."""
    note = (
        "Of episodes that ended by the agent's doing. wall: since the lease, FIKA-Bench's reading; charged: "
        "without the gateway's own waiting, the limit's clock. Quantiles: linear interpolation (type 7)."
    )
    rows = [
        [
            row.top,
            row.clock,
            str(row.n),
            number(row.median, 1),
            number(row.p90, 1),
            count(row.near_limit),
            percent(row.near_limit.fraction),
        ]
        for row in summary.runtime
    ]
    columns = ["category", "clock", "episodes", "median s", "p90 s", "≥ 239 s", "≥ 239 s %"]
    totals = frozenset(index for index, row in enumerate(summary.runtime) if row.top == ALL)
    behind = {
        (line, 5): Selection.of(top=row.top).lasting(NEAR_LIMIT)
        for line, row in enumerate(summary.runtime)
        if row.clock == "wall" and row.near_limit.count
    }
    return Table("Runtime", note, columns, rows, 2, totals, behind=behind)


def spread_table(summary: Summary) -> Table:
    """The figures of the boxes; no rows where no episode ended by the agent's doing."""
    rows = [
        [
            row.top,
            str(row.n),
            *(number(value, 1) for value in (row.low, row.q1, row.median, row.q3, row.high)),
        ]
        for row in summary.spread
    ]
    note = "Wall seconds of episodes that ended by the agent's doing."
    columns = ["category", "episodes", "least", "quartile 1", "median", "quartile 3", "most"]
    return Table("Spread of the runtime", note, columns, rows, 1, frozenset({len(rows) - 1} if rows else ()))
