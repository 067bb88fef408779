"""Accuracy of each split × category at one look: a shade, a number and its n."""

from __future__ import annotations

from fieldmark.evals.metrics.accuracy import ALL, AccuracyRow
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, percent
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table

NO_TASK = "no task"


def heat_table(summary: Summary) -> Table:
    """A row for each category, a column for each split; a cell leads to its episodes."""
    cells = {(row.top, row.split): row for row in summary.accuracy.rows}
    tops = [*sorted({top for top, _ in cells if top != ALL}), ALL]
    splits = [*sorted({split for _, split in cells if split != ALL}), ALL]
    places = {
        (line, column + 1): cells[top, split]
        for line, top in enumerate(tops)
        for column, split in enumerate(splits)
        if (top, split) in cells
    }
    note = (
        "Strict accuracy, correct/done by task; the stronger the colour, the higher. A cell leads to all its "
        "finished episodes, those in no denominator too."
    )
    return Table(
        "Accuracy by split and category",
        note,
        ["category", *("all splits" if split == ALL else split for split in splits)],
        [
            ["all" if top == ALL else top, *(_cell(cells.get((top, split))) for split in splits)]
            for top in tops
        ],
        totals=frozenset({len(tops) - 1}),
        shades={
            place: row.strict.fraction for place, row in places.items() if row.strict.fraction is not None
        },
        behind={place: Selection.of(split=row.split, top=row.top) for place, row in places.items()},
    )


def _cell(row: AccuracyRow | None) -> str:
    if row is None:
        return NO_TASK
    if not row.strict.n:
        return f"none done of {row.tasks}"
    return f"{percent(row.strict.fraction)} % ({count(row.strict)})"
