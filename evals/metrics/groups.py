"""Accuracy by another label than the top category: mid category, source, language."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import ALL, Accuracy, accuracy
from fieldmark.evals.metrics.outcomes import Cell, LabelName

GROUPED: tuple[LabelName, ...] = ("mid", "source", "language")


class Grouped(BaseModel):
    """`accuracy` over all splits: a row for each value of the label, the micro total, the macro mean."""

    label: LabelName
    accuracy: Accuracy


def grouped(cells: list[Cell]) -> list[Grouped]:
    """Of each label that has more than one value in this run; tasks without it are "(none)"."""
    found = [(label, {getattr(cell, label) for cell in cells}) for label in GROUPED]
    return [
        Grouped(label=label, accuracy=accuracy([_under(cell, label) for cell in cells]))
        for label, values in found
        if len(values) > 1
    ]


def _under(cell: Cell, label: LabelName) -> Cell:
    return replace(cell, split=ALL, top=getattr(cell, label))
