"""A trace in short, for a model or a person who says why its answer was wrong: each step with its `seq`.

Left out are requests (what they hold came as results before), pictures, and what is told twice: calls that
the gateway read and the inside tells of, the tool that gave the answer. Long texts lose their middle.
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
    trace = _Trace(events)
    found = []
    for event in events:
        told = {} if trace.leaves_out(event) else {**trace.beside(event), **_told(event, limit)}
        if told:
            found.append({"event": event.seq, **told})
    return found


class _Trace:
    """The events of an episode, indexed for telling what is told of elsewhere."""

    def __init__(self, events: Sequence[Event]) -> None:
        calls = [event for event in events if isinstance(event, ToolCall)]
        inside = {call.tap for call in calls if call.by != "gateway" and call.tap}
        ok = {_key(event) for event in events if isinstance(event, ToolResult) and event.ok}
        self._names = {_key(call): call.name for call in calls}
        self._heard = {call.model_call for call in calls} | {call.tap for call in calls}
        self._others = {e.call for e in events if isinstance(e, ModelRequest) and e.role != "agent"}
        self._twice = {_key(call) for call in calls if call.by == "gateway" and call.tap in inside}
        self._answers = {_key(call) for call in calls if call.name == "answer"} & ok

    def leaves_out(self, event: Event) -> bool:
        """Replies of other models, calls that are told twice, and the tool that gave the answer."""
        if isinstance(event, ModelResponse):
            return event.call in self._others
        return isinstance(event, ToolCall | ToolResult) and _key(event) in self._twice | self._answers

    def beside(self, event: Event) -> Step:
        """The name of the call that a result is of; calls of a reply that no event tells of."""
        if isinstance(event, ToolResult):
            return {"result_of": self._names.get(_key(event), "?")}
        if not isinstance(event, ModelResponse):
            return {}
        asked = [
            call.name
            for place, call in enumerate(event.tool_calls)
            if not {call.id, f"{event.call}.{place}"} & self._heard
        ]
        return {"asks_for": asked} if asked else {}


def _key(event: ToolCall | ToolResult) -> tuple[bool, str]:
    return (event.by == "gateway", event.call)


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
    return {**told, "finish": odd}


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
