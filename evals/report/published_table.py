"""A paper's figures beside those of runs."""

from __future__ import annotations

from fieldmark.evals.comparison.published import Beside
from fieldmark.evals.comparison.published_macro import MEASURES, PARTS, MacroBeside
from fieldmark.evals.report.figures import count, interval, number, percent
from fieldmark.evals.report.table import Table


def published_table(beside: Beside | MacroBeside) -> Table:
    """Ours first; a row for each part of which there is a figure."""
    return _macro_table(beside) if isinstance(beside, MacroBeside) else _counts_table(beside)


def _macro_table(beside: MacroBeside) -> Table:
    rows = [
        [
            f"ours: {row.name}" if row.ours else row.name,
            row.world,
            MEASURES[row.world],
            *(
                number(100 * value, 2) if (value := row.parts.get(part)) is not None else "–"
                for part in PARTS
            ),
        ]
        for row in beside.rows
    ]
    warnings = "".join(f" Not alike: {line}." for line in beside.warnings)
    note = (
        f"Published: {beside.source}. Not paired: of single examples nothing is published, so no test is "
        f"made. Means over datasets; both: of seen and unseen.{warnings}"
    )
    columns = ["system", "world", "measure", *(f"{part} %" for part in PARTS)]
    return Table(f"Published figures of {beside.benchmark}, not paired", note, columns, rows, 3)


def _counts_table(beside: Beside) -> Table:
    rows = [
        [
            f"ours: {row.name}" if row.ours else row.name,
            part,
            count(cell.share),
            percent(cell.share.fraction) + ("*" if cell.derived else ""),
            interval(cell.interval),
        ]
        for row in beside.rows
        for part, cell in row.parts.items()
    ]
    warnings = "".join(f" Not alike: {line}." for line in beside.warnings)
    note = (
        f"Published: {beside.source}. Not paired: which tasks they had right is not published, so no test is "
        "made. Strict accuracy; CI: Wilson's of the counts, which follow from the printed percentages. "
        f"*: not printed, derived from the two other parts.{warnings}"
    )
    columns = ["system", "part", "correct", "%", "CI 95%"]
    return Table(f"Published figures of {beside.benchmark}, not paired", note, columns, rows, 2)
