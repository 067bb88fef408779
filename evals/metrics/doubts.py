"""Verdicts that persons doubt who looked at single answers, by `fieldmark label` or in the inspector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.findings import FailureLabel, FailureMark

DOUBT: FailureLabel = "judge_or_label_doubt"
Key = tuple[str, int]


class Doubt(BaseModel):
    """`annotator` doubts the `verdict` on an answer, or its reference. `audited`: what the person of the
    audit said of the same answer, None where it did not ask.
    """

    id: str
    epoch: int
    verdict: str
    annotator: str
    note: str
    audited: str | None


def doubts(cells: Iterable[Cell], marks: Iterable[FailureMark], said: Mapping[Key, str]) -> list[Doubt]:
    """Of all answers that have a verdict, in run order; `said`: the words of the audit."""
    judged = {(cell.id, cell.epoch): cell.verdict for cell in cells if cell.verdict}
    order = list(judged)
    found = [
        Doubt(
            id=mark.id, epoch=mark.epoch, verdict=verdict.label, annotator=mark.annotator, note=mark.note,
            audited=said.get(mark.key),
        )
        for mark in marks
        if mark.label == DOUBT and (verdict := judged.get(mark.key))
    ]  # fmt: skip
    return sorted(found, key=lambda doubt: (order.index((doubt.id, doubt.epoch)), doubt.annotator))
