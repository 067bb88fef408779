"""A run's failures and acts, drawn, and several runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.comparison.comparison import Comparison
from fieldmark.evals.metrics.shares import Share
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count
from fieldmark.evals.report.plots import Mark, Plot, bars, whiskers

_MOST = 20
"""Bars of one plot: the rest is in the table."""


def failures_plot(summary: Summary) -> list[Plot]:
    """The classes that any wrong answer has; none where nothing was classified."""
    found = summary.failures
    marks = [
        Mark(_told(row.name, row.share), row.share.fraction, row.interval)
        for row in sorted(found.labels, key=lambda row: -row.share.count)
        if row.share.count
    ]
    note = (
        f"Per cent of {found.wrong} wrong answers, with the 95 % interval; classes without any are left out."
    )
    return [bars("Why answers were wrong", note, marks)] if marks and found.classifiers else []


def acts_plots(summary: Summary) -> list[Plot]:
    """The calls by action, and the failed ones by kind of error; none where nothing was called, or failed."""
    calls = sum(row.calls for row in summary.by_action)
    shares = [(row.name, Share.of(row.calls, calls)) for row in summary.by_action]
    kinds = [(row.kind, row.of_failed) for row in summary.errors]
    failed = kinds[0][1].n if kinds else 0
    plots = [
        bars("Calls by action", f"Per cent of {calls} innermost calls.", _marks(shares)),
        bars("Kinds of error", f"Per cent of {failed} failed calls.", _marks(kinds)),
    ]
    return [plot for plot, found in zip(plots, (shares, kinds), strict=True) if found]


def _marks(shares: Sequence[tuple[str, Share]]) -> list[Mark]:
    return [Mark(_told(name, share), share.fraction) for name, share in shares[:_MOST]]


def runs_plots(summaries: Sequence[Summary], made: Comparison | None) -> list[Plot]:
    """The accuracy of each run and, where they were compared task by task, its difference to the first."""
    rows = [(summary.run.name, summary.accuracy.headline) for summary in summaries]
    marks = [Mark(_told(name, row.strict), row.strict.fraction, row.interval) for name, row in rows]
    plots = [
        whiskers("Strict accuracy of each run", "Per cent of tasks done, with the 95 % interval.", marks)
    ]
    if made:
        gains = [
            Mark(f"{each.b} (n = {each.table.n})", each.difference, each.interval)
            for each in (versus.paired for versus in made.versus)
        ]
        against = f"To {summaries[0].run.name}, in percentage points, with the 95 % interval."
        plots.append(whiskers("Difference to the first run", against, gains, signed=True))
    return plots


def _told(name: str, share: Share) -> str:
    room = 30
    return f"{name if len(name) <= room else name[: room - 1] + '…'} ({count(share)})"
