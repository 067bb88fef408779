"""What an episode has used of each limit of its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fieldmark.records import EpisodeRecord
from fieldmark.trace import EpisodeStart, Event, ModelRequest, ModelResponse, Tokens


@dataclass(frozen=True)
class Used:
    """`limit` is 0 where there is none; seconds, calls, tokens, USD."""

    what: str
    used: float
    limit: float


def of_record(record: EpisodeRecord, limits: Any) -> list[Used]:
    """Of a finished one: what is unknown is left out. Seconds are charged: without the gateway's waits."""
    return _against(
        limits,
        {
            "seconds": record.charged_seconds,
            "model_calls": record.counts.get("model_calls"),
            "tokens": _sum([record.tokens]),
            "cost": record.cost,
        },
    )


def so_far(events: Iterable[Event], limits: Any) -> list[Used]:
    """By the trace: wall seconds until its last event, requests of the agent, tokens as they came. `limits`
    are the run's, until the trace says them.
    """
    seconds, asked = 0.0, set[str]()
    tokens: list[Tokens | None] = []
    for event in events:
        seconds = max(seconds, event.t)
        if isinstance(event, EpisodeStart):
            limits = event.limits
        elif isinstance(event, ModelRequest) and event.role == "agent":
            asked.add(event.call)
        elif isinstance(event, ModelResponse) and event.call in asked:
            tokens.append(event.tokens)
    return _against(limits, {"seconds": seconds, "model_calls": len(asked), "tokens": _sum(tokens)})


def _sum(told: list[Tokens | None]) -> int | None:
    known = [each.input + (each.output or 0) for each in told if each and each.input is not None]
    return sum(known) if known else None


def _against(limits: Any, used: dict[str, float | int | None]) -> list[Used]:
    given = limits if isinstance(limits, dict) else {}
    return [
        Used(what.replace("_", " "), float(spent), _limit(given.get(what)))
        for what, spent in used.items()
        if spent is not None and not (what == "cost" and not spent)
    ]


def _limit(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15
    return float(value) if known else 0.0
