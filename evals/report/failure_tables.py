"""Why answers were wrong, as tables. They hold counts, no gold and no reasons."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.failures.agreement import Agreement
from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.failures import (
    LEFT_OPEN,
    NOT_CLASSIFIED,
    FailureGroup,
    Failures,
    FailureShare,
    pooled,
)
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, interval, number, percent
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table

_SHORT = {
    "wrong_entity_retrieval": "entity",
    "visual_grounding": "sight",
    "neighbour_confusion": "kin",
    "too_broad": "broad",
    "no_acquisition": "act",
    "generation_or_empty": "empty",
    "tool_failure": "tool",
    "timeout_or_budget": "time",
    "format_or_instruction": "form",
    "judge_or_label_doubt": "doubt",
    LEFT_OPEN: "open",
    NOT_CLASSIFIED: "open",
}
"""Class → the heading of its column, in the order of the columns: short, so that all fit on a terminal."""


def failure_tables(summary: Summary) -> list[Table]:
    """Empty rows where nothing was classified and no person has labelled: then there is nothing to say."""
    found = summary.failures
    if not found.classifiers and not found.validity.labelled and not found.validity.doubted:
        return []
    return [
        _classes(summary),
        _more(found),
        _categories(summary),
        _named(summary),
        _validity(found),
        _disagreements(found),
    ]


def pooled_table(summaries: Sequence[Summary]) -> Table:
    """The classes of several runs beside each other, and pooled; no rows where nothing is classified."""
    runs = [summary.failures for summary in summaries]
    columns = ["class", *(summary.run.name for summary in summaries), "pooled /wrong", "pooled %"]
    each = [[percent(row.share.fraction) for row in [*run.labels, run.named]] for run in runs]
    rows = [
        [total.name, *(run[place] for run in each), count(total.share), percent(total.share.fraction)]
        for place, total in enumerate(pooled(runs))
        if any(run.classifiers for run in runs)
    ]
    note = (
        "% of each run's wrong answers, then all of them added up. Without intervals: the runs share their "
        "tasks. FIKA-Bench's pooled figure of the last row is 53.7 %, over other runs."
    )
    models = {tuple(name for name in run.classifiers if name != "facts") for run in runs}
    if len(models) > 1:
        note += " Not alike: the runs were not classified by the same model."
    return Table("Failures, runs pooled", note, columns, rows, 1, frozenset({len(rows) - 1} if rows else ()))


def _classes(summary: Summary) -> Table:
    found = summary.failures
    rows = [_row(row) for row in [*found.labels, found.named]]
    apart = f"{found.unjudged} unjudged and {found.sandbox_error} of ours (sandbox_error) are not among them."
    around = "resampled over tasks" if summary.epochs > 1 else "Wilson's"
    note = (
        f"Of {found.wrong} wrong answers: completed, and not `correct` by the current verdicts; {apart} CI: "
        f"95 %, {around}. Last row: the first two classes together, FIKA-Bench's group. Decided by "
        f"{', '.join(found.classifiers) or 'nothing yet'}; taxonomy {found.taxonomy}. "
        f"{validity_line(found)}"
    )
    if any(row.name == NOT_CLASSIFIED and row.share.count for row in found.labels):
        note += f" {NOT_CLASSIFIED}: `fieldmark classify` has not run since they were judged."
    columns = ["class", "count /wrong", "%", "CI 95%"]
    behind = {(line, 1): Selection.of(failure=row.name) for line, row in enumerate(found.labels)}
    title = "Why answers were wrong" + _partial(summary)
    return Table(title, note, columns, rows, 1, frozenset({len(rows) - 1}), behind=behind)


def _row(row: FailureShare) -> list[str]:
    return [row.name, count(row.share), percent(row.share.fraction), interval(row.interval)]


def validity_line(found: Failures) -> str:
    """How far the classifier's labels can be believed, in one sentence."""
    told = [f"{pair.first}–{pair.second} κ {kappa(pair)} (n = {pair.n})" for pair in found.validity.labels]
    if not told:
        return "Classifier: not validated; `fieldmark label` has persons label a sample."
    return f"Classifier, by persons' labels: {'; '.join(told)}."


def kappa(pair: Agreement) -> str:
    """κ with its interval, or why there is none."""
    if pair.kappa is None:
        return f"– ({pair.why})"
    if pair.interval is None:
        return f"{number(pair.kappa)} ({pair.why})"
    return f"{number(pair.kappa)} [{number(pair.interval[0])}, {number(pair.interval[1])}]"


def _more(found: Failures) -> Table:
    kinds = [
        ("of wrong_entity_retrieval", found.subs),
        ("first broken link", found.links),
        ("decided by", found.stages),
    ]
    rows = [[kind, *_row(row)] for kind, shares in kinds for row in shares if row.share.count]
    note = (
        "The first broken link of grounding → retrieval → reasoning. Decided by facts of the trace, by a "
        "model, or left open by both. What there is none of is left out."
    )
    return Table("Failures, further", note, ["what", "which", "count", "%", "CI 95%"], rows, 2)


def _categories(summary: Summary) -> Table:
    """Counts of the classes, without those that nothing is of."""
    groups = summary.failures.groups
    found = [name for name in _SHORT if any(group.counts.get(name) for group in groups)]
    heads = list(dict.fromkeys(_SHORT[name] for name in found))
    rows = [[*_place(group), str(group.wrong), *_counts(group, heads)] for group in groups]
    note = "Counts; classes without any are left out. " + ", ".join(
        f"{_SHORT[name]}: {name}" for name in found
    )
    columns = ["split", "category", "wrong", *heads]
    return Table("Failures by category" + _partial(summary), f"{note}.", columns, rows, 2, _totals(groups))


def _named(summary: Summary) -> Table:
    groups = summary.failures.groups
    rows = [[*_place(group), *_row(group.named)[1:]] for group in groups]
    note = "The sum of the first two classes, over the wrong answers of the category."
    title = f"{summary.failures.named.name.capitalize()}{_partial(summary)}"
    return Table(title, note, ["split", "category", "count /wrong", "%", "CI 95%"], rows, 2, _totals(groups))


def _totals(groups: list[FailureGroup]) -> frozenset[int]:
    return frozenset(place for place, group in enumerate(groups) if group.top == ALL)


def _place(group: FailureGroup) -> list[str]:
    return [group.split, "all" if group.top == ALL else group.top]


def _counts(group: FailureGroup, heads: list[str]) -> list[str]:
    """What stands under each heading; several classes may share one."""
    return [str(sum(n for name, n in group.counts.items() if _SHORT[name] == head)) for head in heads]


def _validity(found: Failures) -> Table:
    pairs = [("class", pair) for pair in found.validity.labels]
    pairs += [("broken link", pair) for pair in found.validity.links]
    rows = [
        [what, pair.first, pair.second, count(pair.raw), percent(pair.raw.fraction), kappa(pair)]
        for what, pair in pairs
    ]
    labelled = ", ".join(f"{name} {done}" for name, done in found.validity.labelled.items())
    if found.validity.sighted:
        labelled += f"; {found.validity.sighted} of these in sight of another label, so κ can be too high"
    if found.validity.doubted:
        told = ", ".join(f"{name} {n}" for name, n in found.validity.doubted.items())
        labelled += f"; correct answers whose verdict is doubted: {told}"
    note = (
        f"Wrong answers labelled: {labelled}. same: one and the same class. κ: Cohen's, 95 % interval by the "
        "large-sample variance of Fleiss, Cohen & Everitt (1969), which is too narrow for small n."
    )
    columns = ["of", "one", "other", "same", "same %", "Cohen's κ [95 %]"]
    return Table("Do persons and classifier agree", note, columns, rows, 3)


def _disagreements(found: Failures) -> Table:
    rows = [
        [pair.first, pair.second, one, other, str(pair.matrix[i][j])]
        for pair in found.validity.labels
        for i, one in enumerate(pair.classes)
        for j, other in enumerate(pair.classes)
        if i != j and pair.matrix[i][j]
    ]
    rows.sort(key=lambda row: (row[0], row[1], -int(row[4])))
    note = "The cells of the confusion matrix off its diagonal; all of it: --json."
    columns = ["one", "other", "one says", "other says", "answers"]
    return Table("Where they differ", note, columns, rows, 4)


def _partial(summary: Summary) -> str:
    return " · PARTIAL" if summary.partial else ""
