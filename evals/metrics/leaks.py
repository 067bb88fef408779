"""Accuracy with and without the episodes that came upon the task picture itself."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import strict_share
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.shares import Share
from fieldmark.records import Leak


class LeakFacts(BaseModel):
    """Counts of episodes: `looked_at`, of those `copied`, of those `leaked`, or `undecided` without gold.

    The shares are strict accuracy of tasks; an undecided episode is left out with the leaked ones.
    """

    looked_at: int
    copied: int
    leaked: int
    undecided: int
    all: Share
    without_leaked: Share
    without_copied: Share


def leak_facts(cells: list[Cell], leaks: Mapping[tuple[str, int], Leak]) -> LeakFacts:
    """Of the episodes of a run; those that nobody looked at stay in every share."""
    known = {(cell.id, cell.epoch): leaks.get((cell.id, cell.epoch)) for cell in cells if cell.record}
    copied = {key for key, leak in known.items() if leak and leak.copied}
    undecided = {key for key in copied if (leak := known[key]) and leak.leaked is None}
    leaked = {key for key in copied if (leak := known[key]) and leak.leaked}
    return LeakFacts(
        looked_at=sum(leak is not None for leak in known.values()),
        copied=len(copied),
        leaked=len(leaked),
        undecided=len(undecided),
        all=strict_share(cells),
        without_leaked=strict_share([cell for cell in cells if _key(cell) not in leaked | undecided]),
        without_copied=strict_share([cell for cell in cells if _key(cell) not in copied]),
    )


def _key(cell: Cell) -> tuple[str, int]:
    return (cell.id, cell.epoch)
