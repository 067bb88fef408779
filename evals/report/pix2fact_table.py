"""Accuracy as Pix2Fact scores it, with its two decimals, for the runs under its protocol."""

from __future__ import annotations

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.shares import Share
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, number, percent
from fieldmark.evals.report.table import Table


def pix2fact_table(summary: Summary) -> Table:
    """No rows for a run under another protocol, or none."""
    scores = summary.paper
    columns = "by|category|correct|%|without failed|%|failed calls|unjudged".split("|")
    title = "By Pix2Fact's protocol" + (" · PARTIAL" if summary.partial else "")
    if scores is None:
        return Table(title, "", columns, [])
    note = (
        "The paper's reading: an answer whose model calls failed, or on which the judge gave no word, is "
        "False. Beside it the same without those episodes. Counts are of episodes; no other table is scored "
        f"like this. The parser of the last brace would have lost {_share(scores.lost)} answers. The paper's "
        "headline of 24.0 % is the mean of two exams of 50 questions: over all 1,000 it has 27.0 %."
    )
    rows = [
        [
            row.by,
            "all" if row.category == ALL else row.category,
            count(row.paper),
            two_decimals(row.paper),
            count(row.without),
            two_decimals(row.without),
            str(row.failed),
            str(row.unjudged),
        ]
        for row in scores.rows
    ]
    return Table(title, note, columns, rows, 2, frozenset({0}))


def two_decimals(share: Share) -> str:
    """Per cent as the paper's table 3 has it; a dash where there is nothing to divide by."""
    return number(None if share.fraction is None else 100 * share.fraction)


def _share(share: Share) -> str:
    return f"{count(share)} ({percent(share.fraction)} %)" if share.n else "none of 0"
