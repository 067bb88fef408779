"""A trace in short, for a model or a person who says why its answer was wrong: each step with its `seq`.

Left out are requests (what they hold came as results before), pictures, and what the gateway read a second
time of a call that the inside tells of. Long texts lose their middle.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fieldmark.evals.asking.request import shortened
from fieldmark.trace import (
    Answer,
    Egress,
    EpisodeEnd,
    Event,
    Log,
    MemoryRead,
    MemoryWrite,
    ModelRequest,
    ModelResponse,
    SkillRead,
    ToolCall,
    ToolResult,
)

Step = dict[str, Any]
"""`event`, the `seq` of the event, and what happened: JSON-able, without empty values."""
LIMITS = (2_000, 800, 300, 120)
"""Characters of one text; the first with which all steps fit."""
MAX_CHARACTERS = 60_000
"""Of all steps as JSON."""
MAX_STEPS = 200


def compact(events: Sequence[Event]) -> list[Step]:
    """The steps within MAX_CHARACTERS, those in the middle left out where even the shortest do not fit."""
    for limit in LIMITS:
        made = steps(events, limit)
        if len(made) <= MAX_STEPS and _size(made) <= MAX_CHARACTERS:
            return made
    half = min(MAX_STEPS, max(2, len(made) * MAX_CHARACTERS // _size(made))) // 2
    return [*made[:half], {"left_out": f"{len(made) - 2 * half} steps"}, *made[-half:]]


def steps(events: Sequence[Event], limit: int) -> list[Step]:
    """Every step; no text of it is longer than about `limit` characters."""
    others = {e.call for e in events if isinstance(e, ModelRequest) and e.role != "agent"}
    inside = {e.tap for e in events if isinstance(e, ToolCall) and e.by != "gateway" and e.tap}
    twice = {e.call for e in events if isinstance(e, ToolCall) and e.by == "gateway" and e.tap in inside}
    names = {(e.by == "gateway", e.call): e.name for e in events if isinstance(e, ToolCall)}
    found = []
    for event in events:
        if isinstance(event, ModelResponse) and event.call in others:
            continue
        if isinstance(event, ToolCall | ToolResult) and event.by == "gateway" and event.call in twice:
            continue
        told = _told(event, limit)
        if isinstance(event, ToolResult):
            told = {"result_of": names.get((event.by == "gateway", event.call), "?"), **told}
        if told:
            found.append({"event": event.seq, **told})
    return found


def seqs(made: Iterable[Step]) -> set[int]:
    """The events that the steps show."""
    return {step["event"] for step in made if "event" in step}


def as_lines(made: Iterable[Step]) -> list[str]:
    """A line a step, for a person."""
    return [_line(step) for step in made]


def _told(event: Event, limit: int) -> Step:
    """What a step says, {} for an event that says nothing here."""
    for kind, tell in _KINDS.items():
        if isinstance(event, kind):
            return {key: _cut(value, limit) for key, value in tell(event).items() if value not in _EMPTY}
    return {}


_EMPTY: tuple[object, ...] = (None, "", [], {})


def _cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return shortened(value, limit)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= limit else shortened(text, limit)


def _response(event: ModelResponse) -> Step:
    told = {"says": event.text, "thinks": event.reasoning, "error": event.error}
    odd = event.finish if event.finish not in ("stop", "tool_calls") else None
    return {**told, "finish": odd, "calls": [call.name for call in event.tool_calls]}


def _result(event: ToolResult) -> Step:
    error = ": ".join(part for part in (event.error_kind, event.error) if part)
    return {"ok": event.ok, "error": "" if event.ok else error, "text": event.text}


def _egress(event: Egress) -> Step:
    fine = event.decision in ("allowed", "replayed") and (event.http or 0) < 400
    return {} if fine else {"web": event.url, "decision": event.decision, "http": event.http}


def _answer(event: Answer) -> Step:
    told = {"answer": event.text, "rationale": event.rationale, "confidence": event.confidence}
    return {**told, "evidence": event.evidence}


def _end(event: EpisodeEnd) -> Step:
    return {"ends_as": event.status, "error": event.error.message if event.error else None}


_KINDS: dict[type[Event], Callable[[Any], Step]] = {
    ModelResponse: _response,
    ToolCall: lambda event: {"calls": event.name, "arguments": event.arguments, "side": event.side},
    ToolResult: _result,
    SkillRead: lambda event: {"reads_skill": event.skill, "file": event.file},
    MemoryRead: lambda event: {"recalls": event.query, "notes": len(event.hits)},
    MemoryWrite: lambda event: {"remembers": event.text},
    Egress: _egress,
    Log: lambda event: {} if event.level == "info" else {event.level: event.message},
    Answer: _answer,
    EpisodeEnd: _end,
}


def _size(made: list[Step]) -> int:
    return len(json.dumps(made, ensure_ascii=False))


def _line(step: Step) -> str:
    seq = step.get("event", "…")
    told = "  ".join(
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
        for key, value in step.items()
        if key != "event"
    )
    return f"[{seq:>3}] {told}"
