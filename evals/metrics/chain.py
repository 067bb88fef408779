"""Where the chain broke first, counted: shares of the wrong answers, and how many passed each stage.

A stage's pass rate is over the answers that reached it: those that are correct, and those that broke at this
stage or a later one. Wrong answers that are in no stage (no answer, a doubt, open, not classified) are in the
shares and in no pass rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import get_args

from pydantic import BaseModel

from fieldmark.evals.failures.agreement import Agreement, agreement
from fieldmark.evals.failures.chain.current import current_breaks
from fieldmark.evals.failures.chain.scheme import KINDS, SCHEME, STAGES
from fieldmark.evals.failures.current import wrong_cells
from fieldmark.evals.metrics.failure_validity import CLASSIFIER, NONE
from fieldmark.evals.metrics.failures import LEFT_OPEN, NOT_CLASSIFIED, FailureShare, share_of
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.findings import BrokenBy, ChainBreak
from fieldmark.rundir import RunDir

Key = tuple[str, int]
NO_STAGE = "no stage"
"""No answer was given, or the verdict is in doubt."""


class Chain(BaseModel):
    """`stages`, `kinds` and `by` are over the `wrong` answers; each sums to all of them. `passed`: of the
    answers that reached a stage, those that passed it. `unplaced`: wrong answers in no pass rate.

    `classifiers` are what placed them; `agreement` is of persons and classifier on the stage.
    """

    scheme: str
    wrong: int
    unplaced: int
    stages: list[FailureShare]
    kinds: list[FailureShare]
    by: list[FailureShare]
    passed: list[FailureShare]
    classifiers: list[str]
    agreement: list[Agreement]


def chain(run: RunDir, cells: Sequence[Cell]) -> Chain | None:
    """None where nothing was placed by this scheme and no person has said a stage."""
    found, said = current_breaks(run, cells), _said(run)
    if not found and not said:
        return None
    wrong = wrong_cells(cells)
    rows = [found.get((cell.id, cell.epoch)) for cell in wrong]
    ids = [cell.id for cell in wrong]

    def shares(names: Sequence[str], name_of: Callable[[ChainBreak | None], str]) -> list[FailureShare]:
        told = [name_of(row) for row in rows]
        return [share_of(name, ids, [each == name for each in told]) for name in names]

    return Chain(
        scheme=SCHEME,
        wrong=len(wrong),
        unplaced=sum(row is None or row.link is None for row in rows),
        stages=shares([*STAGES, NO_STAGE, LEFT_OPEN, NOT_CLASSIFIED], _stage),
        kinds=shares([*KINDS, NONE], lambda row: (row and row.kind) or NONE),
        by=shares([*get_args(BrokenBy), NOT_CLASSIFIED], lambda row: row.by if row else NOT_CLASSIFIED),
        passed=_passed(cells, found),
        classifiers=sorted({row.classifier for row in found.values()}),
        agreement=_agreement(said, found, {(cell.id, cell.epoch) for cell in wrong}),
    )


def _stage(row: ChainBreak | None) -> str:
    if row is None:
        return NOT_CLASSIFIED
    return LEFT_OPEN if row.by == "open" else row.link or NO_STAGE


def _passed(cells: Sequence[Cell], found: dict[Key, ChainBreak]) -> list[FailureShare]:
    """Correct answers passed all; one that broke at a stage passed those before it."""
    broke = {key: row.link for key, row in found.items() if row.link}
    here = [cell for cell in cells if cell.outcome == "correct" or (cell.id, cell.epoch) in broke]
    made = []
    for stage in STAGES:
        passed = [broke.get((cell.id, cell.epoch)) != stage for cell in here]
        made.append(share_of(stage, [cell.id for cell in here], passed))
        here = [cell for cell, through in zip(here, passed, strict=True) if through]
    return made


def _said(run: RunDir) -> dict[str, dict[Key, str]]:
    """Annotator → answer → the stage that was said by this scheme."""
    told: dict[str, dict[Key, str]] = {}
    for mark in run.failure_marks():
        if mark.scheme == SCHEME:
            told.setdefault(mark.annotator, {})[mark.key] = mark.link or NONE
    return told


def _agreement(
    said: dict[str, dict[Key, str]], found: dict[Key, ChainBreak], wrong: set[Key]
) -> list[Agreement]:
    classified = {key: row.link or NONE for key, row in found.items() if row.by != "open"}
    raters = [*sorted(said.items()), *([(CLASSIFIER, classified)] if classified else [])]
    return [
        agreement(
            one, other, [(first[key], second[key]) for key in sorted(first.keys() & second.keys() & wrong)]
        )
        for (one, first), (other, second) in combinations(raters, 2)
    ]
