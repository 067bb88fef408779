"""Accuracy per split × category, and per split with every denominator."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.accuracy import ALL, AccuracyRow, MacroRow
from fieldmark.evals.metrics.episode_rows import FACET
from fieldmark.evals.metrics.groups import GROUPED, Grouped
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table


def categories_table(summary: Summary) -> Table:
    """Strict and soft accuracy of each category of each split, with their counts."""
    note = (
        "done = the agent ended and was judged; time-outs and empty answers included. strict = correct/done, "
        "soft = (correct + partially correct)/done. CI: Wilson's 95 % interval of strict."
    )
    if summary.epochs > 1:
        note += (
            f" A task counts with the mean of its {summary.epochs} epochs; n is tasks; where epochs disagree"
            " the CI is a bootstrap over tasks."
        )
    columns = "split|category|tasks|correct /done|strict %|CI 95%|soft /done|soft %".split("|")
    found = summary.accuracy.rows
    totals = frozenset(index for index, row in enumerate(found) if row.top == ALL)
    behind = {(line, 3): Selection.of(split=row.split, top=row.top) for line, row in enumerate(found)}
    rows = [_category(row) for row in found]
    return Table("Accuracy" + _partial(summary), note, columns, rows, 2, totals, behind=behind)


def _category(row: AccuracyRow) -> list[str]:
    return [
        row.split,
        "all (micro)" if row.top == ALL else row.top,
        str(row.tasks),
        count(row.strict),
        percent(row.strict.fraction),
        interval(row.interval),
        count(row.soft),
        percent(row.soft.fraction),
    ]


def group_tables(summary: Summary) -> list[Table]:
    """Accuracy by each other label that has more than one value, all splits together."""
    return [_group(summary, group) for group in summary.groups]


def _group(summary: Summary, group: Grouped) -> Table:
    macro, found = group.accuracy.macro[0], group.accuracy.rows
    alone = any(row.strict.n == 1 for row in found if row.top != ALL)
    note = (
        f"All splits. micro: every task counts the same; macro: every {group.label} with a task done does. "
        "CI: as in the first table; of macro, tasks are resampled in each group"
    )
    note += ", which a group of one task does not allow." if alone else "."
    columns = f"{group.label}|tasks|correct /done|strict %|CI 95%|soft /done|soft %".split("|")
    rows = [_category(row)[1:] for row in found]
    told = [percent(macro.strict), "–" if alone else interval(macro.interval), "–", percent(macro.soft)]
    rows.append(["all (macro)", f"{macro.categories} of {counted(len(rows) - 1, 'group')}", "–", *told])
    totals = frozenset({len(rows) - 2, len(rows) - 1})
    name = group.label if group.label in GROUPED else FACET + group.label
    behind = {(line, 2): Selection.of(**{name: row.top}) for line, row in enumerate(found)}
    title = f"Accuracy by {group.label}" + _partial(summary)
    return Table(title, note, columns, rows, 1, totals, behind=behind)


def splits_table(summary: Summary) -> Table:
    """Micro beside macro, and the count of correct over each denominator."""
    row = summary.accuracy.headline
    note = (
        "micro: every task counts the same; macro: every category with a task done does. attempted = done + "
        "sandbox errors + unjudged; all = attempted + not run. The last three columns count episodes."
    )
    macro = summary.accuracy.macro[0]
    if macro.interval:
        note += (
            f" CI 95% of macro strict, all: {interval(macro.interval)} (tasks resampled in each category)."
        )
    if row.unjudged:
        note += f" Were all unjudged answers correct, strict would be {percent(row.upper.fraction)} %."
    columns = (
        "split|micro strict %|macro strict %|micro soft %|macro soft %|correct /done|correct /attempted|"
        "correct /all|sandbox errors|unjudged|not run"
    ).split("|")
    micro = {row.split: row for row in summary.accuracy.rows if row.top == ALL}
    rows = [_split(micro[macro.split], macro) for macro in summary.accuracy.macro]
    return Table("Accuracy by denominator" + _partial(summary), note, columns, rows)


def _split(micro: AccuracyRow, macro: MacroRow) -> list[str]:
    return [
        micro.split,
        percent(micro.strict.fraction),
        percent(macro.strict),
        percent(micro.soft.fraction),
        percent(macro.soft),
        count(micro.strict),
        count(micro.attempted),
        count(micro.all),
        str(micro.sandbox_error),
        str(micro.unjudged),
        str(micro.not_run),
    ]


def _partial(summary: Summary) -> str:
    return " · PARTIAL" if summary.partial else ""
