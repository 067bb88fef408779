"""How episodes ended: the agent's five statuses, ours, and what was not run at all."""

from __future__ import annotations

from typing import get_args

from pydantic import BaseModel

from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.records import AGENT_STATUSES, Status


class StatusRow(BaseModel):
    """`whose` says who answers for it: the agent's statuses count in every denominator."""

    status: str
    whose: str
    count: int
    of: int


def statuses(cells: list[Cell], refused: int) -> list[StatusRow]:
    """Counts over all task × epoch of the run; `refused` tasks had unusable input and were never tried."""
    counts = [cell.record.status if cell.record else "not run" for cell in cells]
    rows = [
        StatusRow(
            status=status,
            whose="agent" if status in AGENT_STATUSES else "ours",
            count=counts.count(status),
            of=len(cells),
        )
        for status in get_args(Status)
    ]
    rows.append(StatusRow(status="not run", whose="nobody", count=counts.count("not run"), of=len(cells)))
    if refused:
        rows.append(StatusRow(status="refused", whose="data", count=refused, of=len(cells)))
    return rows
