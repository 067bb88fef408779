"""Supported or lucky, and the funnel from looking to a right answer."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.shares import Share
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.metrics.support import FunnelRow, Support, SupportRow
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.evals.report.table import Table


def support_table(summary: Summary) -> Table:
    """Correct answers that a result had named before, and those that nothing supports; none without gold."""
    found = summary.support
    note = (
        "supported: a tool's result held a right name before the answer, and its call had not named it; else "
        "unsupported: known, guessed or read off the picture. confirmed: of the unsupported, a look-up that "
        "named it brought it back. supported % = supported/n. CI: Wilson's 95 % interval."
    )
    if summary.epochs > 1:
        note += (
            f" Counts are of episodes; supported % of tasks, each with the mean of its {summary.epochs}"
            " epochs; where epochs disagree the CI is a bootstrap over tasks."
        )
    columns = "split|category|n|correct|supported|unsupported|confirmed|supported %|CI 95%".split("|")
    rows = [_support(row) for row in found.rows] if found.episodes > found.without_gold else []
    title = "Supported or lucky" + _partial(summary)
    return Table(title, note + _left_out(found), columns, rows, 2, _totals(found.rows))


def funnel_table(summary: Summary) -> Table:
    """How far episodes came, each column over the episodes of which it is known."""
    found = summary.support
    note = (
        "Of episodes done. looked: at the picture, by a tool; searched: looked something up; both with "
        "success. gold seen: a right name stood in a result before the answer. picture lost: of those that "
        "it had reached."
    )
    if found.without_gold == found.episodes:
        note += (
            " What was seen of gold, and what supported an answer, is not known: gold, or the traces, are not"
            " in this folder."
        )
    columns = "split|category|n|looked|searched|gold seen|right|seen, not right|picture lost".split("|")
    rows = [_funnel(row) for row in found.funnel] if found.episodes else []
    return Table("Funnel" + _partial(summary), note, columns, rows, 2, _totals(found.funnel))


def _support(row: SupportRow) -> list[str]:
    figures = [row.n, row.correct, row.supported, row.unsupported, row.confirmed]
    return [
        *_names(row),
        *map(str, figures),
        percent(row.accuracy.fraction),
        interval(row.interval),
    ]


def _funnel(row: FunnelRow) -> list[str]:
    shares = [row.looked, row.searched, row.seen, row.right, row.seen_wrong, row.picture_lost]
    return [*_names(row), str(row.right.n), *map(_count, shares)]


def _count(share: Share) -> str:
    return count(share) if share.n else "–"


def _names(row: SupportRow | FunnelRow) -> list[str]:
    return [row.split, "all" if row.top == ALL else row.top]


def _totals(rows: Sequence[SupportRow | FunnelRow]) -> frozenset[int]:
    return frozenset(index for index, row in enumerate(rows) if row.top == ALL)


def _left_out(found: Support) -> str:
    left = next((row.left_out for row in found.rows if row.split == row.top == ALL), 0)
    return f" Left out: {left} done, without facts or with gold named in the question." if left else ""


def _partial(summary: Summary) -> str:
    return " · PARTIAL" if summary.partial else ""
