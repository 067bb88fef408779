"""The episodes of a run, a row each, for the reader of a report."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from fieldmark.evals.failures.current import WRONG, current_failures
from fieldmark.evals.metrics.acts import EpisodeActs
from fieldmark.evals.metrics.failures import LEFT_OPEN, NOT_CLASSIFIED
from fieldmark.evals.metrics.last_step import last_step
from fieldmark.evals.metrics.outcomes import NONE, Cell
from fieldmark.findings import Failure
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir

FACET = "facet."
"""Before the name of a facet, where episodes are chosen by it: no label's own name begins so."""


class EpisodeRow(BaseModel):
    """`seconds` is wall time; `acts` is None without a trace; `at` is as `last_step` says it.

    `failure` is the class of a wrong answer, `left open` or `not classified`; "" of any other.
    """

    id: str
    epoch: int
    split: str
    top: str
    mid: str
    source: str
    language: str
    facets: dict[str, str]
    status: str
    answer: str | None
    verdict: str
    finer: bool
    failure: str
    at: str
    seconds: float
    acts: int | None

    def value(self, name: str) -> str:
        """What it can be chosen by: a field of text, or `facet.` and the name of a facet."""
        if name.startswith(FACET):
            return self.facets.get(name.removeprefix(FACET), NONE)
        return str(getattr(self, name))


def episode_rows(
    run: RunDir, grid: list[Cell], acts: Mapping[tuple[str, int], EpisodeActs | None]
) -> list[EpisodeRow]:
    """Every finished episode, in run order. It holds no gold."""
    failures = current_failures(run, grid)
    return [
        _row(cell, cell.record, failures.get(cell.record.key), acts.get(cell.record.key))
        for cell in grid
        if cell.record
    ]


def _row(cell: Cell, record: EpisodeRecord, failure: Failure | None, acts: EpisodeActs | None) -> EpisodeRow:
    return EpisodeRow(
        id=cell.id,
        epoch=cell.epoch,
        split=cell.split,
        top=cell.top,
        mid=cell.mid,
        source=cell.source,
        language=cell.language,
        facets=dict(cell.facets),
        status=record.status,
        answer=record.answer,
        verdict=cell.outcome,
        finer=cell.outcome == "correct" and cell.verdict is not None and cell.verdict.finer,
        failure=failure_name(cell, failure),
        at=last_step(record, acts),
        seconds=record.seconds,
        acts=None if acts is None else len(acts.acts),
    )


def failure_name(cell: Cell, failure: Failure | None) -> str:
    """The class of a wrong answer, or why it has none; "" where the answer is not wrong."""
    if cell.outcome not in WRONG:
        return ""
    return NOT_CLASSIFIED if failure is None else failure.label or LEFT_OPEN
