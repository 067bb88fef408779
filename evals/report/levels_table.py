"""How near to the reference answers came; what was given up, and what was said too exactly."""

from __future__ import annotations

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.levels import LevelRow
from fieldmark.evals.metrics.shares import Share
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, percent
from fieldmark.evals.report.table import Table


def levels_table(summary: Summary) -> Table:
    """Counts of episodes at each level, and the shares of the two best; no rows where none is done."""
    note = (
        "Episodes that are done, the denominator of each %. right: exact or finer, which is more specific "
        "than the reference; broader: partially correct; abstained: says only that it does not know; none: "
        "no answer. holds: of the wrong ones, those with the reference's very words and more "
        "(docs/statistics.md)."
    )
    columns = "category|done|exact|finer|right %|right or broader %|abstained|wrong|holds /wrong|unclear|none"
    shown = [row for row in summary.levels if row.done]
    totals = frozenset(index for index, row in enumerate(shown) if row.top == ALL)
    partial = " · PARTIAL" if summary.partial else ""
    return Table(
        "Credit by level" + partial, note, columns.split("|"), [_row(row) for row in shown], 1, totals
    )


def _row(row: LevelRow) -> list[str]:
    at = row.levels
    right = at["exact"] + at["finer"]
    wrong = at["wrong"]
    return [
        row.top,
        str(row.done),
        str(at["exact"]),
        str(at["finer"]),
        percent(right / row.done),
        percent((right + at["broader"]) / row.done),
        str(at["abstained"]),
        str(wrong),
        "–" if row.holds is None else count(Share.of(row.holds, wrong)),
        str(at["unclear"]),
        str(at["none"]),
    ]
