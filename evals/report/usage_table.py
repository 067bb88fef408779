"""Tokens and money of a run."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.metrics.usage import Money
from fieldmark.evals.report.table import Table


def usage_table(summary: Summary) -> Table:
    """What each role's model used; the cost in the note."""
    columns = ["role", "calls", "without usage", "episodes lacking", "input", "cached", "output"]
    rows = [
        [
            row.role,
            str(row.calls),
            str(row.without_usage),
            str(row.lacking),
            *(_tokens(count) for count in (row.input, row.cached, row.output)),
        ]
        for row in summary.usage
    ]
    note = "Tokens as the server reports them (cached: part of input); a call without usage is in no sum."
    if summary.money.judge_calls:
        note += " Of a judge, lacking counts answers."
    return Table("Tokens and cost", f"{note} {cost_line(summary.money)}", columns, rows)


def cost_line(money: Money) -> str:
    """The money in a sentence; what is not known is said, never added as 0."""
    return f"{_episodes(money)}{_judging(money)}"


def _judging(money: Money) -> str:
    if not money.judge_calls:
        return ""
    usd = "unknown" if money.judge_usd is None else f"{money.judge_usd:.4f} USD"
    return f" Judging, in no episode's cost: {usd} for {counted(money.judge_calls, 'call')}."


def _episodes(money: Money) -> str:
    if money.usd is None:
        return "Cost: unknown (no price, or no usage: --prices)."
    of = "" if money.known == money.episodes else f" of {money.episodes}, unknown for the others"
    total, each = (f"{value:.4f}" if value else "0" for value in (money.usd, money.usd / money.known))
    return f"Cost: {total} USD in {counted(money.known, 'episode')}{of}; {each} USD each."


def _tokens(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"
