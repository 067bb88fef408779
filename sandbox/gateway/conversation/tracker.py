"""Conversation: one trace out of any framework, from the model calls that pass and the claims from inside.

It is fed in order: each request on arrival, each reply when it is complete, each claim before it is
written. It says what to write, and keeps no texts. Times are seconds of the episode's clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fieldmark.sandbox.gateway.conversation import results, textcalls
from fieldmark.sandbox.gateway.conversation.actions import Actions, load
from fieldmark.sandbox.gateway.conversation.calls import Line, OpenCall, asked_for, caused_by, opened
from fieldmark.sandbox.gateway.conversation.said import Asked, plain_id
from fieldmark.sandbox.gateway.conversation.threads import Sent, Thread, Threads
from fieldmark.sandbox.gateway.wire.common import ResponseFacts
from fieldmark.trace import CallRequest


@dataclass(frozen=True)
class _Waiting:
    thread: Thread
    sent: Sent
    asked: Asked


class Conversation:
    """All the conversations of one episode."""

    def __init__(self, actions: Actions | None = None) -> None:
        self._actions = actions or load()
        self._threads = Threads()
        self._waiting: dict[str, _Waiting] = {}

    def request(self, call: str, asked: Asked, now: float) -> tuple[dict[str, Any], list[Line]]:
        """A request of the agent: what its event says of it, and the results that came with it."""
        thread = self._threads.of(asked)
        again = thread.same_before(asked)
        before = thread.before(asked)
        purpose = self._threads.purpose(thread, asked)
        if again and purpose == "step":
            purpose = "retry"
        lines = [*self._given_up(thread)] if again else [*self._results(thread, asked, now)]
        self._waiting[call] = _Waiting(thread, thread.add(call, asked), asked)
        fields = {
            "purpose": purpose,
            "thread": thread.name,
            "parent_thread": thread.parent,
            "parent_call": thread.parent_call,
            "follows": before.call if before else None,
            "retry_of": again.call if again else None,
            "text_tools": None
            if asked.tools or self._threads.working
            else textcalls.offered_in(asked.system),
        }
        return fields, lines

    def response(
        self, call: str, http: int, facts: ResponseFacts, error: str | None, now: float
    ) -> list[CallRequest]:
        """A reply: its calls, those in its text too. Those of one that broke off are never carried out."""
        waiting = self._waiting.pop(call)
        known: list[str] | None = list(waiting.asked.tools)
        calls: Sequence[CallRequest] = facts.tool_calls
        if not calls and not self._threads.working:
            calls = textcalls.calls_in(facts.text or "", waiting.asked.system, call)
            known = textcalls.offered_in(waiting.asked.system)
        broken = http != 200 or bool(error)
        found = opened(call, calls, waiting.asked, known, self._actions, now)
        waiting.sent.failed = broken or any(not each.readable for each in found)
        if not broken:
            waiting.thread.calls += found
        return list(calls)

    def acts(self, calls: Sequence[CallRequest]) -> int:
        """How many of these calls are no answer, under whatever name a framework gives that."""
        return sum(self._actions.kind(call.name).side != "answer" for call in calls)

    def claim(self, fields: dict[str, Any]) -> tuple[dict[str, Any], list[Line]]:
        """A `tool_call` from inside: with what it came out of, where it says nothing itself or is the model's
        own call, and what is to be written before it. `tap` and `side` are the gateway's word alone.
        """
        fields = {key: value for key, value in fields.items() if key not in ("tap", "side")}
        calls, name, arguments = self._threads.open_calls(), fields.get("name"), fields.get("arguments")
        own = self._called(fields, calls)
        if own:
            own.claimed = True
            return {**fields, "model_call": own.id, "tap": own.tap, "side": own.side}, []
        if fields.get("model_call") or fields.get("parent") or not isinstance(name, str):
            return fields, []
        cause = caused_by(calls, name, arguments)
        if cause is None:
            return fields, []
        cause.caused.append(name)
        return {**fields, "parent": cause.tap}, [*_written(cause)]

    def end(self) -> list[Line]:
        """What is left when the episode ends: calls whose result never came."""
        left = [call for call in reversed(self._threads.open_calls()) if not call.claimed]
        return [line for call in left for line in _unanswered(call)]

    def _called(self, fields: dict[str, Any], calls: list[OpenCall]) -> OpenCall | None:
        """The model's call that a claim carries out."""
        given = fields.get("model_call")
        if isinstance(given, str) and given:
            same = [call for call in calls if not call.claimed]
            exact = [call for call in same if call.id == given]
            plain = [call for call in same if call.plain_id == plain_id(given)]
            # an agent gives a call an id of its own where the server left it out, or used one twice
            nameless = [call for call in same if not call.id or [c.id for c in calls].count(call.id) > 1]
            named = asked_for(nameless, str(fields.get("name")), fields.get("arguments"), self._actions)
            return next(iter(exact or plain), named)
        if fields.get("door") == "mcp" and not fields.get("parent"):
            return asked_for(calls, str(fields.get("name")), fields.get("arguments"), self._actions)
        return None

    def _results(self, thread: Thread, asked: Asked, now: float) -> Iterator[Line]:
        for call, said in results.found(thread.calls, asked, thread.results):
            thread.calls.remove(call)
            if not call.claimed:
                yield from _written(call)
                yield from call.inside()
                yield "tool_result", results.event(call, said, now)

    def _given_up(self, thread: Thread) -> Iterator[Line]:
        """The calls of a reply that the framework took back: those it could not read have failed."""
        for call in [call for call in thread.calls if not call.readable and not call.claimed]:
            thread.calls.remove(call)
            yield from _unanswered(call)


def _unanswered(call: OpenCall) -> Iterator[Line]:
    """A call without a result. One that nobody could read has failed for that."""
    yield from _written(call)
    yield from call.inside()
    if not call.readable:
        yield "tool_result", results.dropped(call)


def _written(call: OpenCall) -> Iterator[Line]:
    if call.written or call.claimed:
        return
    call.written = True
    yield "tool_call", call.event()
