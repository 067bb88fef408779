"""The model calls and tool calls of a trace, each with what came back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fieldmark.trace import Event, ModelRequest, ModelResponse, ToolCall, ToolResult


@dataclass(frozen=True)
class Model:
    """A request and the response to it; None when none came."""

    request: ModelRequest
    response: ModelResponse | None

    @property
    def failure(self) -> str | None:
        """Why it brought nothing; None where it did."""
        if self.response is None:
            return "no response"
        return self.response.error or (f"HTTP {self.response.http}" if self.response.http >= 400 else None)


@dataclass(frozen=True)
class Tool:
    """A call and its result; None when none came."""

    call: ToolCall
    result: ToolResult | None

    @property
    def name(self) -> str:
        """Its own among the spans of an episode."""
        return f"tool {self.call.seq}"

    @property
    def failure(self) -> str | None:
        """Why it did not do its job; None where it did."""
        if self.result is None:
            return "no result"
        return None if self.result.ok else self.result.error or self.result.text or "failed"


def model_calls(events: Sequence[Event]) -> Iterator[Model]:
    """In order of the requests, of every role; a response belongs to the last request of its call."""
    responses: dict[int, ModelResponse] = {}
    latest: dict[str, int] = {}
    for event in events:
        if isinstance(event, ModelRequest):
            latest[event.call] = event.seq
        elif isinstance(event, ModelResponse) and event.call in latest:
            responses[latest[event.call]] = event
    for event in events:
        if isinstance(event, ModelRequest):
            yield Model(event, responses.get(event.seq))


def tool_calls(events: Sequence[Event]) -> Iterator[Tool]:
    """In order. What the gateway read of a call that something inside tells of too is left out."""
    told = {event.tap for event in events if isinstance(event, ToolCall) and event.by != "gateway"}
    results: dict[int, ToolResult] = {}
    latest: dict[tuple[bool, str], int] = {}
    for event in events:
        if isinstance(event, ToolCall):
            latest[event.by == "gateway", event.call] = event.seq
        elif isinstance(event, ToolResult) and (event.by == "gateway", event.call) in latest:
            results[latest[event.by == "gateway", event.call]] = event
    for event in events:
        if isinstance(event, ToolCall) and not (event.by == "gateway" and event.tap and event.tap in told):
            yield Tool(event, results.get(event.seq))
