"""Tokens and money of a run, as far as they are known: what nobody reported is not counted as 0.

Episodes that broke through our fault are left out; calls without usage are counted beside the sums. What
judging took stands apart: it is no part of what the agent used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

from pydantic import BaseModel, ValidationError

from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.prices import Price, find_price
from fieldmark.records import AGENT_STATUSES, EpisodeRecord, JudgeUse, added
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
    """USD of the episodes whose cost is known: `usd` in all (None: none is), `known` of `episodes`.

    `judge_usd` is what judging cost, in no episode's cost; None where a part of it is unknown. `judge_calls`
    are the calls of the judges' models.
    """

    usd: float | None
    known: int
    episodes: int
    judge_usd: float | None
    judge_calls: int


def usage(cells: list[Cell]) -> list[UsageRow]:
    """A row for each role whose model was called, the agent's first."""
    records = _ended(cells)
    roles = ["agent", *sorted({role for record in records for role in record.role_tokens})]
    rows = [_row(role, records) for role in roles]
    return [row for row in rows if row.calls]


def judges_usage(uses: Sequence[tuple[str, JudgeUse]]) -> list[UsageRow]:
    """A row for each judge that is a model, called "judge" where it is the only one; `lacking` counts
    answers. Whatever was judged again is counted again, for it was asked again.
    """
    names = sorted({judge for judge, _ in uses})
    return [
        _judge_row(
            "judge" if len(names) == 1 else f"judge {name}", [use for judge, use in uses if judge == name]
        )
        for name in names
    ]


def money(cells: list[Cell], uses: Sequence[tuple[str, JudgeUse]], config: Mapping[str, Any]) -> Money:
    """What the run's episodes cost, and what judging them did, by the prices that run.json has, else ours."""
    records = _ended(cells)
    costs = [record.cost for record in records if record.cost is not None]
    prices = {judge: _judge_price(judge, config) for judge in {judge for judge, _ in uses}}
    judging = [_judge_cost(use, prices[judge]) for judge, use in uses]
    known = [cost for cost in judging if cost is not None]
    return Money(
        usd=round(sum(costs), 6) if costs else None,
        known=len(costs),
        episodes=len(records),
        judge_usd=round(sum(known), 6) if len(known) == len(judging) else None,
        judge_calls=sum(use.calls for _, use in uses),
    )


def _judge_row(role: str, uses: list[JudgeUse]) -> UsageRow:
    tokens = reduce(added, (use.tokens for use in uses))
    return UsageRow(
        role=role,
        calls=sum(use.calls for use in uses),
        without_usage=sum(use.without_usage for use in uses),
        lacking=sum(bool(use.without_usage) for use in uses),
        input=tokens.input,
        cached=tokens.cached,
        output=tokens.output,
    )


def _judge_price(judge: str, config: Mapping[str, Any]) -> Price | None:
    settings = _dict(_dict(config.get("judges")).get(judge))
    return find_price(str(settings.get("model")), _prices(config))


def _judge_cost(use: JudgeUse, price: Price | None) -> float | None:
    """None where its model has no price, or a call of one that costs told no usage."""
    if price is None or (use.without_usage and not price.free):
        return None
    return price.of(use.tokens)


def _prices(config: Mapping[str, Any]) -> dict[str, Price]:
    recorded = _dict(_dict(config.get("config")).get("prices"))
    found = {}
    for name, row in recorded.items():
        with suppress(ValidationError):
            found[name] = Price.model_validate(row)
    return found


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


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
