"""Where the seconds of episodes went."""

from __future__ import annotations

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.phases import Phases
from fieldmark.evals.metrics.runtime import PhaseRow
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import number, percent
from fieldmark.evals.report.table import Table


def phases_table(summary: Summary) -> Table:
    """Medians of each part, and its share of all seconds; no rows where no episode has a trace."""
    note = (
        "Medians per episode, then shares of all wall seconds; of n episodes with a trace. model: at least "
        "one model call under way, parallel ones once; tools: else, at least one tool; waiting: the "
        "gateway's own (429, pacing, queues); own: the rest, the framework itself. Of tools that only the "
        "gateway sees, tools is an upper bound and own a lower one. Medians do not add up."
    )
    columns = ["category", "n", "wall s", *(f"{name} s" for name in Phases._fields)]
    columns += [f"{name} %" for name in Phases._fields]
    shown = [row for row in summary.phases if row.n]
    totals = frozenset(index for index, row in enumerate(shown) if row.top == ALL)
    return Table("Where the time went", note, columns, [_row(row) for row in shown], 1, totals)


def _row(row: PhaseRow) -> list[str]:
    return [
        row.top,
        str(row.n) if row.n == row.of else f"{row.n} of {row.of}",
        number(row.wall, 1),
        *(number(row.medians[name], 1) for name in Phases._fields),
        *(percent(row.shares[name]) for name in Phases._fields),
    ]
