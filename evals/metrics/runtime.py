"""How long episodes took, per top category, on two clocks.

`wall` is seconds since the lease, as the paper reads it; `charged` leaves out the time the gateway itself
waited and is the clock of the limit. Episodes that broke through our fault are left out. Quantiles are
linearly interpolated between order statistics (Hyndman and Fan 1996, type 7; numpy's default).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.phases import Phases
from fieldmark.evals.metrics.shares import Share
from fieldmark.records import AGENT_STATUSES

NEAR_LIMIT = 239.0
"""Seconds: the paper's "near-timeout region" of its 240 s limit."""


class RuntimeRow(BaseModel):
    """Seconds of a category's episodes on one clock; `median` and `p90` are None when n is 0."""

    top: str
    clock: Literal["wall", "charged"]
    n: int
    median: float | None
    p90: float | None
    near_limit: Share


def runtime(cells: list[Cell]) -> list[RuntimeRow]:
    """A row for each category and clock, then for all of them."""
    done = [(cell.top, cell.record) for cell in cells if cell.record and cell.record.status in AGENT_STATUSES]
    rows = []
    for name in [*sorted({top for top, _ in done}), ALL]:
        mine = [record for top, record in done if name in (ALL, top)]
        rows.append(_row(name, "wall", [record.seconds for record in mine]))
        rows.append(_row(name, "charged", [record.charged_seconds for record in mine]))
    return rows


class PhaseRow(BaseModel):
    """Where a category's seconds went (`phases.py`): medians of the `n` episodes that have a trace, None
    without one; shares of all their seconds, None where they took none. `of` counts those without a trace.
    """

    top: str
    n: int
    of: int
    wall: float | None
    medians: dict[str, float | None]
    shares: dict[str, float | None]


def phase_rows(cells: list[Cell], known: Mapping[tuple[str, int], Phases]) -> list[PhaseRow]:
    """A row for each category, then for all of them; by the same episodes as `runtime`."""
    done = [(cell.top, cell.record) for cell in cells if cell.record and cell.record.status in AGENT_STATUSES]
    rows = []
    for name in [*sorted({top for top, _ in done}), ALL]:
        mine = [record for top, record in done if name in (ALL, top)]
        rows.append(_phase_row(name, [known[r.key] for r in mine if r.key in known], len(mine)))
    return rows


def _phase_row(top: str, found: list[Phases], of: int) -> PhaseRow:
    total = sum(sum(each) for each in found)
    each_one = {name: [getattr(phases, name) for phases in found] for name in Phases._fields}
    return PhaseRow(
        top=top,
        n=len(found),
        of=of,
        wall=_median([sum(phases) for phases in found]),
        medians={name: _median(seconds) for name, seconds in each_one.items()},
        shares={name: sum(seconds) / total if total else None for name, seconds in each_one.items()},
    )


def _median(seconds: Sequence[float]) -> float | None:
    return float(np.median(seconds)) if seconds else None


def _row(top: str, clock: Literal["wall", "charged"], seconds: Sequence[float]) -> RuntimeRow:
    median, p90 = (float(q) for q in np.quantile(seconds, [0.5, 0.9])) if seconds else (None, None)
    near = Share.of(sum(value >= NEAR_LIMIT for value in seconds), len(seconds))
    return RuntimeRow(top=top, clock=clock, n=len(seconds), median=median, p90=p90, near_limit=near)
