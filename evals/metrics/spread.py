"""How the seconds of episodes are spread, by category."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.records import AGENT_STATUSES

POINTS = 101
"""Of more episodes than these only the percentiles are kept, so that a page does not grow with a run."""


class Spread(BaseModel):
    """Wall seconds of a category's `n` episodes, ascending: each one, or the percentiles 0–100 of many.

    `low`, `q1`, `median`, `q3`, `high`: least, quartiles (linear interpolation, type 7) and most.
    """

    top: str
    n: int
    seconds: list[float]
    low: float
    q1: float
    median: float
    q3: float
    high: float


def spread(cells: list[Cell]) -> list[Spread]:
    """A row for each category with an episode that ended by the agent's doing, then for all of them."""
    done = [
        (cell.top, cell.record.seconds)
        for cell in cells
        if cell.record and cell.record.status in AGENT_STATUSES
    ]
    tops = sorted({top for top, _ in done})
    rows = [_row(top, [seconds for mine, seconds in done if mine == top]) for top in tops]
    return [*rows, _row(ALL, [seconds for _, seconds in done])] if rows else []


def _row(top: str, seconds: list[float]) -> Spread:
    low, q1, median, q3, high = np.quantile(seconds, [0, 0.25, 0.5, 0.75, 1]).tolist()
    few = len(seconds) <= POINTS
    points = sorted(seconds) if few else np.quantile(seconds, np.linspace(0, 1, POINTS)).tolist()
    return Spread(top=top, n=len(seconds), seconds=points, low=low, q1=q1, median=median, q3=q3, high=high)
