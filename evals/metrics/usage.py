"""Tokens and money of a run, as far as they are known: what nobody reported is not counted as 0.

Episodes that broke through our fault are left out; calls without usage are counted beside the sums.
"""

from __future__ import annotations

from pydantic import BaseModel

from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.records import AGENT_STATUSES, EpisodeRecord
from fieldmark.trace import Tokens


class UsageRow(BaseModel):
    """What one role's model used. `calls`, and those `without_usage`; `lacking`: episodes with such a one.

    A token count is None where no call reported it.
    """

    role: str
    calls: int
    without_usage: int
    lacking: int
    input: int | None
    cached: int | None
    output: int | None


class Money(BaseModel):
    """USD of the episodes whose cost is known: `usd` in all (None: none is), `known` of `episodes`."""

    usd: float | None
    known: int
    episodes: int


def usage(cells: list[Cell]) -> list[UsageRow]:
    """A row for each role whose model was called, the agent's first."""
    records = _ended(cells)
    roles = ["agent", *sorted({role for record in records for role in record.role_tokens})]
    rows = [_row(role, records) for role in roles]
    return [row for row in rows if row.calls]


def money(cells: list[Cell]) -> Money:
    """What the run's episodes cost."""
    records = _ended(cells)
    costs = [record.cost for record in records if record.cost is not None]
    return Money(usd=round(sum(costs), 6) if costs else None, known=len(costs), episodes=len(records))


def _ended(cells: list[Cell]) -> list[EpisodeRecord]:
    return [cell.record for cell in cells if cell.record and cell.record.status in AGENT_STATUSES]


def _row(role: str, records: list[EpisodeRecord]) -> UsageRow:
    prefix, calls = ("", "model_calls") if role == "agent" else (f"{role}_", f"{role}_calls")
    missing = [record.counts.get(f"{prefix}calls_without_usage", 0) for record in records]
    tokens = [_tokens(role, record) for record in records]
    return UsageRow(
        role=role,
        calls=sum(record.counts.get(calls, 0) for record in records),
        without_usage=sum(missing),
        lacking=sum(bool(count) for count in missing),
        input=_sum([each.input for each in tokens]),
        cached=_sum([each.cached for each in tokens]),
        output=_sum([each.output for each in tokens]),
    )


def _tokens(role: str, record: EpisodeRecord) -> Tokens:
    found = record.tokens if role == "agent" else {**record.role_tokens}.get(role)  # type: ignore[call-overload]
    return found or Tokens()


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
