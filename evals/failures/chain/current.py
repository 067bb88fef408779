"""The rows of the chain that still speak of an answer that is not correct."""

from __future__ import annotations

from collections.abc import Iterable

from fieldmark.evals.failures.chain.scheme import SCHEME
from fieldmark.evals.failures.current import wrong_cells
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.findings import ChainBreak
from fieldmark.rundir import RunDir


def current_breaks(run: RunDir, grid: Iterable[Cell]) -> dict[tuple[str, int], ChainBreak]:
    """The latest of each, unless it was said under another verdict or version of the scheme."""
    outcomes = {(cell.id, cell.epoch): cell.outcome for cell in wrong_cells(grid)}
    return {
        key: row
        for key, row in run.chain_breaks().items()
        if row.scheme == SCHEME and outcomes.get(key) == row.outcome
    }
