"""Which answers of a run are not correct now, and the rows that still speak of them."""

from __future__ import annotations

from collections.abc import Iterable

from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.metrics.outcomes import DONE, Cell, Outcome, cells
from fieldmark.findings import Failure
from fieldmark.rundir import RunDir

WRONG: frozenset[Outcome] = DONE - {"correct"}
"""The outcomes that are classified: a fault of ours and an unjudged answer are not."""


def wrong_cells(grid: Iterable[Cell]) -> list[Cell]:
    """The answers that are not correct."""
    return [cell for cell in grid if cell.outcome in WRONG]


def current_failures(run: RunDir, grid: Iterable[Cell] | None = None) -> dict[tuple[str, int], Failure]:
    """The latest row of each answer that is not correct.

    A row is left out when its answer is correct by now, was classified under another verdict, or under
    another version of the classes: `fieldmark classify` writes it anew.
    """
    outcomes = {(cell.id, cell.epoch): cell.outcome for cell in wrong_cells(grid or cells(run))}
    return {
        key: row
        for key, row in run.failures().items()
        if row.taxonomy == VERSION and outcomes.get(key) == row.outcome
    }
