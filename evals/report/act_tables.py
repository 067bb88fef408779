"""Tool use of a run, and its calls by tool and by action."""

from __future__ import annotations

from collections import Counter

from fieldmark.counting import counted
from fieldmark.evals.metrics.by_skill import SkillRow
from fieldmark.evals.metrics.shares import Share
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.metrics.tool_use import CallsRow
from fieldmark.evals.report.figures import count, interval, number, percent
from fieldmark.evals.report.table import Table

MAX_ROWS = 20
"""Names a model invents can be many: the rest of a table by name is added up in one row."""


def tool_use_table(summary: Summary) -> Table:
    """Usage, average acts and error rate, each with its counts."""
    use = summary.tool_use
    note = (
        "usage = episodes with an act / episodes; avg. acts = acts/episodes; error rate = failed/acts. "
        "An act is a tool call of the model other than answer; skills, memory, to-do lists and sub-agents "
        "have their own columns"
    )
    note += ", and are acts too here (--acts all)." if use.every_call else "."
    columns = (
        "episodes|with an act|usage %|acts|avg. acts|failed /acts|error rate %|not found|no result|skill|"
        "memory|to-do|spawns"
    ).split("|")
    row = [
        str(use.episodes),
        count(use.usage),
        percent(use.usage.fraction),
        str(use.acts),
        number(use.mean_acts),
        count(use.errors),
        percent(use.errors.fraction),
        str(use.not_found),
        str(use.no_result),
        *(str(use.sides.get(side, 0)) for side in ("skill", "memory", "todo", "subagent")),
    ]
    return Table("Tool use", note, columns, [row], 0)


def calls_table(title: str, found: list[CallsRow]) -> Table:
    """The calls under each name, most frequent first."""
    note = "Innermost calls: a shell call that ran a tool counts as that tool. error rate = failed / calls."
    columns = "name|calls|share %|failed /calls|error rate %|kinds of error".split("|")
    total = sum(row.calls for row in found)
    note += f" share: of {counted(total, 'call')}."
    rows = [
        [
            row.name,
            str(row.calls),
            percent(row.calls / total),
            count(row.errors),
            percent(row.errors.fraction),
            ", ".join(f"{kind} {times}" for kind, times in row.kinds.items()) or "–",
        ]
        for row in _shortened(found)
    ]
    return Table(title, note, columns, rows, wraps="kinds of error")


def errors_table(summary: Summary) -> Table:
    """The failed calls by kind of error; no rows where none is known."""
    rows = [
        [
            row.kind,
            count(row.of_failed),
            percent(row.of_failed.fraction),
            count(row.of_calls),
            percent(row.of_calls.fraction),
        ]
        for row in summary.errors
    ]
    note = "Innermost calls. A failed call that tells no kind is in no row."
    columns = ["kind", "calls /failed", "% of failed", "calls /calls", "% of calls"]
    return Table("Kinds of error", note, columns, rows)


def skills_table(summary: Summary) -> Table:
    """Of each skill who read it, and the calls of the tools it carries; no rows in a run without skills."""
    note = (
        "tools: how many it carries (allowed-tools). read = episodes that read it / episodes. used = "
        "episodes with a call to one of these / episodes. Innermost calls; a tool of two skills counts twice."
    )
    if any(row.tools is None for row in summary.by_skill):
        note += " This run's folder does not say what skills carry."
    columns = (
        "skill|tools|read /episodes|used /episodes|used %|calls|failed /calls|error rate %|kinds of error"
    )
    rows = [_skill(row) for row in summary.by_skill]
    return Table("Tool use by skill", note, columns.split("|"), rows, wraps="kinds of error")


def _skill(row: SkillRow) -> list[str]:
    kinds = ", ".join(f"{kind} {times}" for kind, times in row.kinds.items()) or "–"
    read = count(row.read) if row.read.n else "–"
    if row.usage is None or row.errors is None or not row.tools:
        carries = "–" if row.tools is None else "0"
        return [row.skill, carries, read, *"–––––", kinds]
    used, failed = row.usage, row.errors
    figures = [count(used), percent(used.fraction), str(row.calls), count(failed), percent(failed.fraction)]
    return [row.skill, str(len(row.tools)), read, *figures, kinds]


def marginal_table(summary: Summary) -> Table:
    """Accuracy with and without each tool."""
    note = (
        "Episodes that are done. Not causal: an agent calls a tool where a task is hard, or easy; a run "
        "without the tool, compared, shows what it brings (`fieldmark compare`)."
    )
    columns = "tool|correct /used|%|CI 95%|correct /not used|not used %|CI 95%".split("|")
    rows = [
        [
            row.tool,
            count(row.used),
            percent(row.used.fraction),
            interval(row.used_interval),
            count(row.unused),
            percent(row.unused.fraction),
            interval(row.unused_interval),
        ]
        for row in summary.marginal[:MAX_ROWS]
    ]
    return Table("Accuracy with and without a tool", note, columns, rows)


def _shortened(rows: list[CallsRow]) -> list[CallsRow]:
    rest = rows[MAX_ROWS:]
    if not rest:
        return rows
    calls, failed = sum(row.calls for row in rest), sum(row.errors.count for row in rest)
    kinds = sum((Counter(row.kinds) for row in rest), Counter())
    added_up = CallsRow(
        name=f"({len(rest)} more)", calls=calls, errors=Share.of(failed, calls), kinds=dict(kinds)
    )
    return [*rows[:MAX_ROWS], added_up]
