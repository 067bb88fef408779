"""Kinds of questions: how many of each, and how far a model agrees with the labels that were given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from fieldmark.evals.benchmarks.facets import Facets
from fieldmark.evals.failures.agreement import Agreement
from fieldmark.evals.report.failure_tables import kappa
from fieldmark.evals.report.figures import count, percent
from fieldmark.evals.report.table import Table
from fieldmark.evals.typing.dimensions import DIMENSIONS
from fieldmark.task import Task


def typing_tables(tasks: Sequence[Task], found: Facets, agreed: Mapping[str, Agreement]) -> list[Table]:
    """Those that have rows."""
    made = [
        _counts(tasks, found),
        _agreement(agreed),
        *(_confusion(name, each) for name, each in agreed.items()),
    ]
    return [table for table in made if table.rows]


def _counts(tasks: Sequence[Task], found: Facets) -> Table:
    told = Counter((name, value) for task in tasks for name, value in found.get(task.id, {}).items())
    rows = [[name, value, str(told[name, value])] for name, values in DIMENSIONS.items() for value in values]
    note = "Of the questions that were typed."
    return Table("Kinds of questions", note, ["dimension", "value", "questions"], rows, 2)


def _agreement(agreed: Mapping[str, Agreement]) -> Table:
    rows = [[name, count(each.raw), percent(each.raw.fraction), kappa(each)] for name, each in agreed.items()]
    note = "With the labels of the benchmark. κ: Cohen's, 95 % interval by the large-sample variance."
    return Table(
        "Agreement with given labels", note, ["dimension", "same", "same %", "Cohen's κ [95 %]"], rows
    )


def _confusion(name: str, each: Agreement) -> Table:
    rows = [
        [one, *(str(n) if n else "" for n in counts)]
        for one, counts in zip(each.classes, each.matrix, strict=True)
        if any(counts)
    ]
    note = "A row for each label that was given, a column for each that the model chose."
    return Table(f"Confusion: {name}", note, ["given ↓ model →", *each.classes], rows)
