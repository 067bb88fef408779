"""Accuracy per split × top category, strict and soft, over three denominators that are named.

strict  = correct / done              done: the agent ended and there is a word on its answer
soft    = (correct + partially correct) / done
attempted, all: correct over the tasks that were tried (with `sandbox_error` and unjudged ones), over all

The unit is the task: where a run has several epochs, a task counts with the mean over its epochs, so that
three looks at one picture are not three samples. `uncertain`, time-outs and empty answers stay in `done`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.metrics.bootstrap import resampled, resampled_macro
from fieldmark.evals.metrics.outcomes import ATTEMPTED, DONE, EVERY, Cell, Outcome
from fieldmark.evals.metrics.shares import Interval, Share, wilson

ALL = "all"
CORRECT: frozenset[Outcome] = frozenset({"correct"})
SOFT: frozenset[Outcome] = frozenset({"correct", "partially_correct"})


class AccuracyRow(BaseModel):
    """One split × category; "all" stands for every one. `interval` is the 95 % one around `strict`.

    It is Wilson's, or resampled over tasks where their epochs do not agree (then a mean is no 0 or 1).

    `unjudged`, `sandbox_error` and `not_run` count episodes, and are in no denominator of `strict`.
    """

    split: str
    top: str
    tasks: int
    strict: Share
    interval: Interval | None
    soft: Share
    attempted: Share
    all: Share
    upper: Share
    unjudged: int
    sandbox_error: int
    not_run: int


class MacroRow(BaseModel):
    """The unweighted mean of a split's categories that have a task done; None when none has.

    `interval` is the 95 % one of `strict`: tasks are resampled within their categories.
    """

    split: str
    categories: int
    strict: float | None
    interval: Interval | None
    soft: float | None


class Accuracy(BaseModel):
    """`rows` of a split end with its micro total; `macro` has a row for each split; "all" comes first."""

    rows: list[AccuracyRow]
    macro: list[MacroRow]

    @property
    def headline(self) -> AccuracyRow:
        """All splits, all categories, micro."""
        return next(row for row in self.rows if row.split == ALL and row.top == ALL)


def accuracy(cells: list[Cell]) -> Accuracy:
    """The table of a run; a lone split is not repeated under its own name."""
    named = sorted({cell.split for cell in cells})
    rows, macro = [], []
    for split in [ALL, *(named if len(named) > 1 else [])]:
        mine = [cell for cell in cells if split in (ALL, cell.split)]
        tops = [
            _row(split, top, [cell for cell in mine if cell.top == top])
            for top in sorted({cell.top for cell in mine})
        ]
        rows += [*tops, _row(split, ALL, mine)]
        macro.append(_macro(split, tops, mine))
    return Accuracy(rows=rows, macro=macro)


def overall(cells: list[Cell]) -> AccuracyRow:
    """The headline of `accuracy`, and nothing else of the table."""
    return _row(ALL, ALL, cells)


def strict_share(cells: Iterable[Cell]) -> Share:
    """Correct over done, micro, and nothing else of the table."""
    return _share(_tasks(cells).values(), CORRECT, DONE)


def _tasks(cells: Iterable[Cell]) -> dict[str, list[Outcome]]:
    """The outcomes of each task's epochs."""
    tasks: dict[str, list[Outcome]] = {}
    for cell in cells:
        tasks.setdefault(cell.id, []).append(cell.outcome)
    return tasks


def _row(split: str, top: str, cells: list[Cell]) -> AccuracyRow:
    tasks = _tasks(cells)
    strict = _share(tasks.values(), CORRECT, DONE)
    outcomes = [cell.outcome for cell in cells]
    return AccuracyRow(
        split=split,
        top=top,
        tasks=len(tasks),
        strict=strict,
        interval=_interval(tasks.values(), strict),
        soft=_share(tasks.values(), SOFT, DONE),
        attempted=_share(tasks.values(), CORRECT, ATTEMPTED),
        all=_share(tasks.values(), CORRECT, EVERY),
        upper=_share(tasks.values(), CORRECT | {"unjudged"}, DONE | {"unjudged"}),
        unjudged=outcomes.count("unjudged"),
        sandbox_error=outcomes.count("sandbox_error"),
        not_run=outcomes.count("not_run"),
    )


def _share(tasks: Iterable[list[Outcome]], good: frozenset[Outcome], base: frozenset[Outcome]) -> Share:
    """Over tasks with an outcome in `base`: the sum of each one's share of `good` outcomes."""
    means = _means(tasks, good, base)
    return Share.of(fsum(means), len(means))


def _means(tasks: Iterable[list[Outcome]], good: frozenset[Outcome], base: frozenset[Outcome]) -> list[float]:
    counted = [[outcome for outcome in outcomes if outcome in base] for outcomes in tasks]
    return [sum(outcome in good for outcome in outcomes) / len(outcomes) for outcomes in counted if outcomes]


def _interval(tasks: Iterable[list[Outcome]], strict: Share) -> Interval | None:
    means = _means(tasks, CORRECT, DONE)
    between = any(0 < mean < 1 for mean in means)
    return (resampled(means, [1] * len(means)) if between else None) or wilson(strict)


def _macro(split: str, rows: list[AccuracyRow], cells: list[Cell]) -> MacroRow:
    strict = [row.strict.fraction for row in rows if row.strict.fraction is not None]
    soft = [row.soft.fraction for row in rows if row.soft.fraction is not None]
    return MacroRow(
        split=split,
        categories=len(strict),
        strict=fmean(strict) if strict else None,
        interval=resampled_macro(_by_category(cells)),
        soft=fmean(soft) if soft else None,
    )


def _by_category(cells: list[Cell]) -> list[list[float]]:
    """Category by category the means of its tasks over their epochs; only categories with a task done."""
    tasks: dict[str, dict[str, list[Outcome]]] = {}
    for cell in cells:
        tasks.setdefault(cell.top, {}).setdefault(cell.id, []).append(cell.outcome)
    means = [_means(category.values(), CORRECT, DONE) for category in tasks.values()]
    return [category for category in means if category]
