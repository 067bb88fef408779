"""Accuracy by another label than the top category: mid category, source, language, and each facet."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import ALL, Accuracy, accuracy
from fieldmark.evals.metrics.outcomes import NONE, Cell, LabelName

GROUPED: tuple[LabelName, ...] = ("mid", "source", "language")


class Grouped(BaseModel):
    """`accuracy` over all splits: a row for each value of the label, the micro total, the macro mean."""

    label: str
    accuracy: Accuracy


def grouped(cells: list[Cell]) -> list[Grouped]:
    """Of each label that has more than one value in this run; tasks without it are "(none)"."""
    facets = list(dict.fromkeys(name for cell in cells for name in cell.facets))
    found = {name: [_under(cell, name) for cell in cells] for name in [*GROUPED, *facets]}
    return [
        Grouped(label=name, accuracy=accuracy(moved))
        for name, moved in found.items()
        if len({cell.top for cell in moved}) > 1
    ]


def _under(cell: Cell, name: str) -> Cell:
    value = getattr(cell, name) if name in GROUPED else cell.facets.get(name, NONE)
    return replace(cell, split=ALL, top=value)
