"""Tool use, counted from the traces alone.

An act is one tool call in a model response of the agent, except `answer`. Skills, memory, to-do lists and
sub-agents have their own column and are no acts. A call to a tool that was not in that very request's list
has failed as `not_found`, whatever followed. Otherwise a call fails when its own result, or that of a call
it caused (`parent`), is not ok. A request that was sent again counts once.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from fieldmark.errors import ToolErrorKind
from fieldmark.trace import CallRequest, Event, ModelRequest, ModelResponse, ToolCall, ToolResult

Side = Literal["skill", "memory", "todo", "subagent"]
SIDES: dict[str, Side] = {
    "read_skill": "skill",
    "skill": "skill",
    "recall": "memory",
    "remember": "memory",
    "todo": "todo",
    "todoread": "todo",
    "todowrite": "todo",
    "update_plan": "todo",
    "write_todos": "todo",
    "sessions_spawn": "subagent",
    "spawn_agent": "subagent",
    "task": "subagent",
}
"""Tools that bring no new information about the picture, under the names agents give them."""
_MAX_DEPTH = 8
"""Calls inside calls that are followed: sub-agent, shell, tool, with room to spare."""


@dataclass(frozen=True)
class Act:
    """`ok` is None when no result was seen. `calls` are the innermost calls it led to, itself if none."""

    name: str
    action: str
    ok: bool | None
    error_kind: ToolErrorKind | None
    calls: tuple[Act, ...] = ()

    @property
    def innermost(self) -> tuple[Act, ...]:
        return tuple(deep for call in self.calls for deep in call.innermost) or (self,)


@dataclass
class EpisodeActs:
    """The acts of one episode, in order, and how often it used each kind of side tool."""

    acts: list[Act] = field(default_factory=list)
    sides: Counter[str] = field(default_factory=Counter)


def episode_acts(events: Iterable[Event]) -> EpisodeActs:
    """Count one trace."""
    trace = _Trace(events)
    found = EpisodeActs()
    for request, response in trace.turns():
        for call in response.tool_calls:
            if call.name in SIDES and call.name in request.tools:
                found.sides[SIDES[call.name]] += 1
            elif call.name != "answer":
                found.acts.append(trace.act(call, request))
    return found


class _Trace:
    """The events of an episode, indexed for joining."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._requests: list[ModelRequest] = []
        self._responses: dict[str, ModelResponse] = {}
        self._by_model_call: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
        self._by_parent: defaultdict[str, list[ToolCall]] = defaultdict(list)
        self._results: dict[str, ToolResult] = {}
        for event in events:
            if isinstance(event, ModelRequest):
                self._requests.append(event)
            elif isinstance(event, ModelResponse):
                self._responses[event.call] = event
            elif isinstance(event, ToolCall):
                self._add_call(event)
            elif isinstance(event, ToolResult):
                self._results[event.call] = event

    def _add_call(self, event: ToolCall) -> None:
        if event.model_call is not None:
            self._by_model_call[event.model_call].append(event)
        if event.parent is not None:
            self._by_parent[event.parent].append(event)

    def turns(self) -> Iterable[tuple[ModelRequest, ModelResponse]]:
        """Each request of the agent with the last response to it."""
        for request in _without_repeats(self._requests):
            if request.call in self._responses:
                yield request, self._responses[request.call]

    def act(self, call: CallRequest, request: ModelRequest) -> Act:
        event = self._take(call.id, request.seq)
        if call.name not in request.tools:
            return Act(call.name, event.action if event else "other", False, "not_found")
        if event is None:
            return Act(call.name, "other", None, None)
        return replace(self._act(event), name=call.name)

    def _take(self, model_call: str, after: int) -> ToolCall | None:
        """The event of a model's call. Some servers reuse ids, so each event is joined once, in order."""
        waiting = self._by_model_call[model_call]
        while waiting:
            event = waiting.popleft()
            if event.seq > after:
                return event
        return None

    def _act(self, event: ToolCall, depth: int = 0) -> Act:
        """A call with the calls it caused. `parent` is claimed inside the sandbox: cycles must not harm."""
        caused = self._by_parent[event.call] if depth < _MAX_DEPTH else []
        children = tuple(self._act(child, depth + 1) for child in caused if child.seq > event.seq)
        result = self._results.get(event.call)
        failed = next((child for child in children if child.ok is False), None)
        if failed:
            return Act(event.name, event.action, False, failed.error_kind, children)
        if result is None:
            return Act(event.name, event.action, None, None, children)
        kind = None if result.ok else result.error_kind or "runtime"
        return Act(event.name, event.action, result.ok, kind, children)


def _without_repeats(requests: list[ModelRequest]) -> list[ModelRequest]:
    """The agent's requests without those that a `retry` sent again: by the same call id or messages."""
    kept: list[ModelRequest] = []
    for request in requests:
        if request.role != "agent":
            continue
        if request.purpose == "retry":
            kept = [old for old in kept if old.call != request.call and old.messages != request.messages]
        kept.append(request)
    return kept
