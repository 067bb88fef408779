"""Where the seconds of an episode went: to models, to tools, to the gateway's own waiting, to the framework.

    model    at least one model call was under way, by whatever role: parallel calls are counted once
    tools    else, at least one tool was at work
    waiting  the gateway made the agent wait: retries, back-off, pacing, queues (wall - charged)
    own      the rest: the agent's framework itself

The four add up to the wall seconds. A call without a response lasted to the end of the episode. What the
gateway waited is known in all, and where it lies only before a model call; the remainder is taken from model
calls without a response, then from the tools, whose look-ups queue. Of tools of which nothing inside tells
(door `native`) the gateway sees only the next request, so theirs are an upper bound, and own a lower one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from fieldmark.records import EpisodeRecord
from fieldmark.trace import Event, ModelRequest, ModelResponse, ToolCall, ToolResult

Span = tuple[float, float]
"""Seconds since the lease: from, to."""


class Phases(NamedTuple):
    """Seconds of one episode; together its wall time."""

    model: float
    tools: float
    waiting: float
    own: float


@dataclass
class _Spans:
    waits: list[Span]
    answered: list[Span]
    unanswered: list[Span]
    tools: list[Span]


def phases(events: Iterable[Event], record: EpisodeRecord) -> Phases:
    """Of one trace. Nothing lies outside the episode, and no second is counted twice."""
    end = record.seconds
    spans = _spans(list(events), end)
    waited = min(end, max(0.0, end - record.charged_seconds))
    layers = [spans.answered, spans.waits, spans.unanswered, spans.tools]
    answered, known, unanswered, tools = _layered(layers, end)
    model = min(answered, end - waited)
    left = max(0.0, waited - known)
    unanswered, left = max(0.0, unanswered - left), max(0.0, left - unanswered)
    unanswered = min(unanswered, end - waited - model)
    tools = min(max(0.0, tools - left), end - waited - model - unanswered)
    return Phases(model + unanswered, tools, waited, max(0.0, end - waited - model - unanswered - tools))


def _spans(events: list[Event], end: float) -> _Spans:
    asked = {event.call: event.t for event in events if isinstance(event, ModelRequest)}
    replies = [event for event in events if isinstance(event, ModelResponse)]
    began = [(asked.get(reply.call, reply.t), reply.t - reply.seconds, reply.t) for reply in replies]
    silent = asked.keys() - {reply.call for reply in replies}
    return _Spans(
        waits=[(first, start) for first, start, _ in began],
        answered=[(max(first, start), last) for first, start, last in began],
        unanswered=[(asked[call], end) for call in silent],
        tools=_tools(events, max(asked.values(), default=0.0), end),
    )


def _tools(events: list[Event], last_request: float, end: float) -> list[Span]:
    """By each result's own seconds; a call without one is still at work if no model was asked after it."""
    results = [event for event in events if isinstance(event, ToolResult)]
    done = {(event.by == "gateway", event.call) for event in results}
    calls = [event for event in events if isinstance(event, ToolCall)]
    hung = [call.t for call in calls if (call.by == "gateway", call.call) not in done]
    return [
        *((result.t - result.seconds, result.t) for result in results),
        *((began, end) for began in hung if began >= last_request),
    ]


def _layered(layers: list[list[Span]], end: float) -> list[float]:
    """The seconds that each layer covers and none before it does."""
    covered: list[float] = [0.0]
    so_far: list[Span] = []
    for layer in layers:
        so_far = so_far + layer
        covered.append(_length(so_far, end))
    return [after - before for before, after in pairwise(covered)]


def _length(spans: Iterable[Span], end: float) -> float:
    """Seconds of [0, end] that at least one span covers."""
    total, reached = 0.0, 0.0
    for first, last in sorted((max(0.0, first), min(last, end)) for first, last in spans):
        if last > reached:
            total += last - max(first, reached)
            reached = last
    return total
