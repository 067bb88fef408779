"""Why answers were wrong: the classes of the failure taxonomy, counted over all wrong answers of a run.

A wrong answer is a completed episode whose outcome is not `correct` (with `uncertain` ones, time-outs and
empty answers); the current verdicts say which. One without a current row is `not classified`, one that the
classifier could not decide is `left open`: both stay in every denominator, so that the shares add up to 1.
`sandbox_error` and unjudged episodes are no wrong answers and are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from pydantic import BaseModel

from fieldmark.evals.failures.current import current_failures, wrong_cells
from fieldmark.evals.failures.taxonomy import CLASSES, SUBS, VERSION, WRONG_ENTITY
from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.bootstrap import resampled
from fieldmark.evals.metrics.failure_validity import NONE, FailureValidity, validity
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.shares import Interval, Share, wilson
from fieldmark.findings import Failure, Link, Stage
from fieldmark.rundir import RunDir

LEFT_OPEN = "left open"
NOT_CLASSIFIED = "not classified"
NAMED: frozenset[str] = frozenset(label for label, each in CLASSES.items() if each.group == WRONG_ENTITY)
"""The classes of the sum that the paper names."""
Key = tuple[str, int]


class FailureShare(BaseModel):
    """A class and its share of the wrong answers. `interval` is the 95 % one: Wilson's, or resampled over
    tasks where a run has several epochs; None where there is none to be had.
    """

    name: str
    share: Share
    interval: Interval | None


class FailureGroup(BaseModel):
    """One split × category, "all" for every one: wrong answers by class, and the share of the named sum."""

    split: str
    top: str
    wrong: int
    counts: dict[str, int]
    named: FailureShare


class Failures(BaseModel):
    """All over the `wrong` answers, but for `subs`, which are over those of `wrong_entity_retrieval`.

    `classifiers` are what decided, `taxonomy` is the version of the classes.
    """

    wrong: int
    unjudged: int
    sandbox_error: int
    labels: list[FailureShare]
    named: FailureShare
    subs: list[FailureShare]
    links: list[FailureShare]
    stages: list[FailureShare]
    groups: list[FailureGroup]
    classifiers: list[str]
    taxonomy: str
    validity: FailureValidity


@dataclass(frozen=True)
class _Wrong:
    """A wrong answer and what was found of it."""

    cell: Cell
    failure: Failure | None

    @property
    def key(self) -> Key:
        return (self.cell.id, self.cell.epoch)

    @property
    def label(self) -> str:
        if self.failure is None:
            return NOT_CLASSIFIED
        return self.failure.label or LEFT_OPEN

    @property
    def sub(self) -> str:
        return (self.failure and self.failure.sub) or NONE

    @property
    def link(self) -> str:
        named = self.failure.link or NONE if self.failure else NONE
        return self.label if self.label in (LEFT_OPEN, NOT_CLASSIFIED) else named

    @property
    def stage(self) -> str:
        return self.failure.stage if self.failure else NOT_CLASSIFIED


def failures(run: RunDir, cells: Sequence[Cell]) -> Failures:
    """Read what was classified and what persons said, and count it."""
    found = current_failures(run, cells)
    wrong = [_Wrong(cell, found.get((cell.id, cell.epoch))) for cell in wrong_cells(cells)]
    told = [each.failure for each in wrong if each.failure]
    outcomes = Counter(cell.outcome for cell in cells)
    return Failures(
        wrong=len(wrong),
        unjudged=outcomes["unjudged"],
        sandbox_error=outcomes["sandbox_error"],
        labels=_shares(wrong, [*CLASSES, LEFT_OPEN, NOT_CLASSIFIED], lambda each: each.label),
        named=_named(wrong),
        subs=_shares(
            [each for each in wrong if each.label == "wrong_entity_retrieval"],
            [*SUBS, NONE],
            lambda each: each.sub,
        ),
        links=_shares(wrong, [*get_args(Link), NONE, LEFT_OPEN, NOT_CLASSIFIED], lambda each: each.link),
        stages=_shares(wrong, [*get_args(Stage), NOT_CLASSIFIED], lambda each: each.stage),
        groups=_groups(wrong),
        classifiers=sorted({failure.classifier for failure in told}),
        taxonomy=VERSION,
        validity=validity(
            run.class_marks(),
            {each.key: each.failure for each in wrong},
            {(cell.id, cell.epoch) for cell in cells if cell.outcome == "correct"},
        ),
    )


def pooled(runs: Sequence[Failures]) -> list[FailureShare]:
    """The classes over the wrong answers of all runs, then the named sum, without intervals: the runs have
    their tasks in common, so their wrong answers are no independent sample.
    """
    total = sum(run.wrong for run in runs)
    rows = [*zip(*(run.labels for run in runs), strict=True), tuple(run.named for run in runs)]
    return [
        FailureShare(
            name=row[0].name, share=Share.of(sum(each.share.count for each in row), total), interval=None
        )
        for row in rows
    ]


def _shares(
    wrong: list[_Wrong], names: Sequence[str], name_of: Callable[[_Wrong], str]
) -> list[FailureShare]:
    told = [name_of(each) for each in wrong]
    return [_share(name, wrong, [each == name for each in told]) for name in names]


def _named(wrong: list[_Wrong]) -> FailureShare:
    return _share(WRONG_ENTITY, wrong, [each.label in NAMED for each in wrong])


def _share(name: str, wrong: list[_Wrong], hits: list[bool]) -> FailureShare:
    return share_of(name, [each.cell.id for each in wrong], hits)


def share_of(name: str, ids: Sequence[str], hits: Sequence[bool]) -> FailureShare:
    """`ids`: the task of each answer; `hits`: whether it is one of those."""
    share = Share.of(sum(hits), len(ids))
    sizes = Counter(ids)
    if max(sizes.values(), default=0) < 2:
        return FailureShare(name=name, share=share, interval=wilson(share))
    counted = Counter(task for task, hit in zip(ids, hits, strict=True) if hit)
    around = resampled([counted[task] for task in sizes], list(sizes.values()))
    return FailureShare(name=name, share=share, interval=around)


def _groups(wrong: list[_Wrong]) -> list[FailureGroup]:
    """Each split × category with a wrong answer, then the split's total; a lone split is not repeated."""
    named = sorted({each.cell.split for each in wrong})
    made = []
    for split in [ALL, *(named if len(named) > 1 else [])]:
        mine = [each for each in wrong if split in (ALL, each.cell.split)]
        tops = sorted({each.cell.top for each in mine})
        made += [_group(split, top, [each for each in mine if each.cell.top == top]) for top in tops]
        made.append(_group(split, ALL, mine))
    return made


def _group(split: str, top: str, wrong: list[_Wrong]) -> FailureGroup:
    counts = Counter(each.label for each in wrong)
    return FailureGroup(split=split, top=top, wrong=len(wrong), counts=dict(counts), named=_named(wrong))
