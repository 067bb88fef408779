"""Which wrong answers persons label: a random sample, the same for each of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from fieldmark.evals.failures.current import wrong_cells
from fieldmark.evals.metrics.outcomes import Cell


def draw(cells: Sequence[Cell], sample: int, seed: int) -> list[Cell]:
    """`sample` of all wrong answers, stratified by nothing, in the order in which they are shown.

    An answer's place follows from the seed and its own key: a larger sample holds the smaller one, and when
    the run goes on or is judged again, the answers that are wrong before and after keep their order.
    """
    return sorted(wrong_cells(cells), key=lambda cell: _place(cell, seed))[:sample]


def _place(cell: Cell, seed: int) -> str:
    return hashlib.sha256(f"{seed}|{cell.epoch}|{cell.id}".encode("utf-8", "replace")).hexdigest()
