"""Tool use, counted from the traces alone.

An act is one tool call in a model response of the agent, except `answer`. Skills, memory, to-do lists and
sub-agents have their own column and are no acts; the acts of sub-agents count. A call to a tool that was not
in that very request's list has failed as `not_found`, whatever followed. Otherwise a call fails when its own
result, or that of a call it caused (`parent`), is not ok. A request that was sent again counts once, but the
calls which could not be read, and for which it was sent again, have failed.

What the gateway read from the model calls (door `native`) stands for a call of which nothing inside tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from fieldmark.errors import ToolErrorKind
from fieldmark.evals.metrics.turns import Turn, turns
from fieldmark.trace import CallRequest, Event, Side, ToolCall, ToolResult

SIDES: dict[str, Side] = {
    "answer": "answer",
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
"""Tools that bring no new information about the picture, where the gateway does not say so (`side`)."""
_MAX_DEPTH = 8
"""Calls inside calls that are followed: sub-agent, shell, tool, with room to spare."""


@dataclass(frozen=True)
class Act:
    """`ok` is None when no result was seen. `calls` are the calls it led to. `seq` is of the event that tells
    of the call; of the model's response where none does. `seconds` are those of its result.
    """

    name: str
    action: str
    ok: bool | None
    error_kind: ToolErrorKind | None
    calls: tuple[Act, ...] = ()
    seq: int = -1
    seconds: float | None = None

    @property
    def innermost(self) -> tuple[Act, ...]:
        return tuple(deep for call in self.calls for deep in call.innermost) or (self,)


@dataclass
class EpisodeActs:
    """The calls of one episode but `answer`, in order, each with its kind of side tool: None is an act."""

    calls: list[tuple[Side | None, Act]] = field(default_factory=list)

    @cached_property
    def acts(self) -> list[Act]:
        """Those that are acts, in order."""
        return [act for side, act in self.calls if side is None]

    @cached_property
    def sides(self) -> Counter[str]:
        """How often it used each kind of side tool."""
        return Counter(side for side, _ in self.calls if side is not None)


def episode_acts(events: Iterable[Event]) -> EpisodeActs:
    """Count one trace."""
    events = list(events)
    trace = _Trace(events)
    calls: list[tuple[Side | None, Act]] = [
        (side, trace.act(call, event, turn))
        for turn in turns(events)
        for call, event in trace.calls(turn)
        if (side := trace.side(call, event, turn)) != "answer"
    ]
    return EpisodeActs(calls)


def _offers(turn: Turn, name: str) -> bool | None:
    """Whether a tool was in the request's list; None for a call in the text: its event knows, if anything."""
    in_text = turn.response is not None and turn.response.in_text
    return None if in_text else name in turn.request.tools


def _seq(event: ToolCall | None, turn: Turn) -> int:
    if event:
        return event.seq
    return turn.response.seq if turn.response else turn.request.seq


class _Trace:
    """The events of an episode, indexed for joining."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_model_call: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
        self._by_tap: dict[str, ToolCall] = {}
        self._by_parent: defaultdict[str, list[ToolCall]] = defaultdict(list)
        self._results: dict[tuple[bool, str], ToolResult] = {}
        for event in events:
            if isinstance(event, ToolCall):
                self._add_call(event)
            elif isinstance(event, ToolResult):
                self._results[event.by == "gateway", event.call] = event

    def _add_call(self, event: ToolCall) -> None:
        if event.tap is not None:
            if event.by != "gateway" or event.tap not in self._by_tap:  # a native event replaces the tap's
                self._by_tap[event.tap] = event
        elif event.model_call is not None:
            self._by_model_call[event.model_call].append(event)
        if event.parent is not None:
            self._by_parent[event.parent].append(event)

    def calls(self, turn: Turn) -> Iterator[tuple[CallRequest, ToolCall | None]]:
        """The calls of a turn, each with the event that tells of it. Of a request that was sent again only
        those which could not be read.
        """
        for index, call in enumerate(turn.response.tool_calls if turn.response else []):
            tap = self._by_tap.get(f"{turn.request.call}.{index}")
            event = tap if tap or turn.replaced else self._take(call.id, turn.request.seq)
            if not turn.replaced or (event and self._kind(event) == "invalid_args"):
                yield call, event

    def side(self, call: CallRequest, event: ToolCall | None, turn: Turn) -> Side | None:
        """The column of a call that is no act. One to a tool that was not offered has gone wrong: an act."""
        offered = _offers(turn, call.name) is not False
        if event is None or event.by != "gateway":
            told = event.side if event and event.tap else SIDES.get(event.name if event else call.name)
            return told if offered or told == "answer" else None  # what a claim calls itself hides no act
        is_shell = event.action == "code_or_shell"
        inner = [SIDES.get(child.name) for child in self._by_parent[event.call]] if is_shell else []
        own = event.side or (inner[0] if inner and all(inner) else None)  # a shell that only ran `answer`
        return own if offered else None

    def act(self, call: CallRequest, event: ToolCall | None, turn: Turn) -> Act:
        if _offers(turn, call.name) is False:
            return Act(
                call.name, event.action if event else "other", False, "not_found", seq=_seq(event, turn)
            )
        if event is None:
            return Act(call.name, "other", None, None, seq=_seq(event, turn))
        return replace(self._act(event), name=call.name if event.door == "graph" else event.name)

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
        children = tuple(
            self._act(child, depth + 1)
            for child in caused
            if child.seq > event.seq and child.side is None and SIDES.get(child.name) is None
        )
        result, kind = self._result(event), self._kind(event)
        failed = next((child for child in children if child.ok is False), None)
        ok, kind = (False, failed.error_kind) if failed else (result.ok if result else None, kind)
        seconds = result.seconds if result else None
        return Act(event.name, event.action, ok, kind, children, event.seq, seconds)

    def _result(self, event: ToolCall) -> ToolResult | None:
        return self._results.get((event.by == "gateway", event.call))

    def _kind(self, event: ToolCall) -> ToolErrorKind | None:
        result = self._result(event)
        return None if result is None or result.ok else result.error_kind or "runtime"
