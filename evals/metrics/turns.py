"""The turns of an agent in a trace: which of its model calls were steps, side calls, or sent again.

The gateway says so on arrival (`purpose`, `thread`, `retry_of`); two things show only later, and are settled
here. An agent's title call may come before its first request with tools. And a call without tools in the
middle of a conversation that works with them was a step only if the conversation went on from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fieldmark.trace import Event, ModelRequest, ModelResponse


@dataclass(frozen=True)
class Turn:
    """A request of the agent and the last response to it, None when none came. `side`: it is no step.
    `replaced`: the framework had no use for the response and sent the request again.
    """

    request: ModelRequest
    response: ModelResponse | None
    side: bool
    replaced: bool

    @property
    def main(self) -> bool:
        """Whether this is a step of the agent itself, not of a sub-agent."""
        return not self.side and not self.replaced and self.request.parent_thread is None


def turns(events: Iterable[Event]) -> list[Turn]:
    """The agent's model calls, in order; those of other roles are left out."""
    requests: list[ModelRequest] = []
    responses: dict[str, ModelResponse] = {}
    for event in events:
        if isinstance(event, ModelRequest) and event.role == "agent":
            requests.append(event)
        elif isinstance(event, ModelResponse):
            responses[event.call] = event
    replaced = _replaced(requests)
    return [
        Turn(request, responses.get(request.call), _is_side(request, requests), request.seq in replaced)
        for request in requests
    ]


def _is_side(request: ModelRequest, requests: list[ModelRequest]) -> bool:
    if request.purpose == "side":
        return True
    if request.tools or request.thread is None:
        return False
    working = [other for other in requests if other.tools]
    here = [other for other in working if other.thread == request.thread]
    if any(other.follows == request.call for other in requests if other.thread == request.thread):
        return bool(working) and not here
    return bool(working) and (not here or here[-1].seq > request.seq)


def _replaced(requests: list[ModelRequest]) -> set[int]:
    """The `seq` of requests that were sent again: named by the retry, else by call id or messages."""
    gone: set[int] = set()
    for index, request in enumerate(requests):
        if request.retry_of is not None:
            gone |= {old.seq for old in requests[:index] if old.call == request.retry_of}
        elif request.purpose == "retry":
            same = [old for old in requests[:index] if old.call == request.call]
            same += [old for old in requests[:index] if old.messages == request.messages]
            gone |= {old.seq for old in same}
    return gone
