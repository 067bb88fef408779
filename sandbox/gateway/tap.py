"""The tap: one model call sent, and watched on its way back.

A request is recorded on arrival, its reply on completion, however it ends.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from fieldmark.sandbox.gateway.modelcall import ModelRequest, take_apart
from fieldmark.sandbox.gateway.receipts import look
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import Upstream, UpstreamReply
from fieldmark.sandbox.gateway.wire import chat
from fieldmark.sandbox.gateway.wire.common import (
    Body,
    Format,
    ResponseFacts,
    StreamReader,
    as_dict,
    compact,
    read_whole,
)
from fieldmark.sight import Shown
from fieldmark.trace import Receipt, Role


async def ask(session: Session, upstream: Upstream, body: Body, *, role: Role) -> tuple[int, Body]:
    """One whole Chat Completions call of the gateway's own: recorded like an agent's, in no budget of it.

    Returns the reply's status and JSON ({} when it is none). Raises ModelFault when the upstream stays down,
    Refused when the request is over a limit.
    """
    raw = compact(body).encode("utf-8", "replace")
    request = await session.in_thread(take_apart, session, upstream, chat, raw, {}, role)
    session.counts[f"{role}_calls"] = number = session.counts.get(f"{role}_calls", 0) + 1
    status, said = await session.work(_whole(session, upstream, request, f"{role}{number}"))
    try:
        return status, as_dict(json.loads(said))
    except (ValueError, RecursionError):
        return status, {}


async def _whole(session: Session, upstream: Upstream, request: ModelRequest, call: str) -> tuple[int, bytes]:
    async with recorded(session, upstream, request, call) as reply:
        return reply.status, b"".join([chunk async for chunk in reply.chunks])


async def look_for_picture(session: Session, request: ModelRequest) -> None:
    """Where the task picture is not among the known ones, somebody may have written it anew."""
    if request.fields["task_picture"] is None and request.pictures:
        receipt = await look(session, request.pictures)
        request.fields["task_picture"] = receipt and receipt.model_dump()


@asynccontextmanager
async def recorded(
    session: Session, upstream: Upstream, request: ModelRequest, call: str
) -> AsyncIterator[UpstreamReply]:
    """Send a request as the call of this name; its two events are written."""
    _arrived(session, request, call)
    watch = _Watch(request.wire)
    path, whole = request.wire.PATH, not request.streams
    try:
        async with upstream.send(
            path, request.payload, session.clock, whole=whole, headers=request.headers,
            purpose=request.fields["purpose"],
        ) as reply:  # fmt: skip
            _note_source(session, call, reply)
            yield watch.over(reply)
    except BaseException as error:
        watch.error = f"{type(error).__name__}: {error}"[:300]
        raise
    finally:
        _record(session, request, call, watch)


class _Watch:
    """What is noticed of one reply as it passes; `first` is the moment of the first chunk of a stream."""

    def __init__(self, wire: Format) -> None:
        self.began = time.monotonic()
        self.first: float | None = None
        self.reply: UpstreamReply | None = None
        self.error: str | None = None
        self._wire = wire
        self._stream = StreamReader(wire.read_stream())
        self._body: list[bytes] = []

    def over(self, reply: UpstreamReply) -> UpstreamReply:
        """The same reply, watched while it is read."""
        self.reply = reply
        watched = self._watched(reply.chunks, reply.streams)
        return replace(reply, chunks=watched)

    def facts(self) -> ResponseFacts:
        """What came; called once."""
        if self.reply is not None and not self.reply.streams:
            return read_whole(self._wire, b"".join(self._body))
        return self._stream.facts()

    async def _watched(self, chunks: AsyncIterator[bytes], streams: bool) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            if streams:
                self.first = self.first or time.monotonic()
                self._stream.feed(chunk)
            else:
                self._body.append(chunk)
            yield chunk


def _arrived(session: Session, request: ModelRequest, call: str) -> None:
    """The request's event, after those of the results that it brings."""
    if request.role == "agent":
        told, results = session.conversation.request(call, request.said, session.clock.wall)
        request.fields.update(told)
        session.log_all(results)
    session.log("gateway", "model_request", {"call": call, **request.fields})


def _note_source(session: Session, call: str, reply: UpstreamReply) -> None:
    """Count what no server was asked for, and write where a replayed request is another one than then."""
    for name, it_is in (("cached_calls", reply.cached), ("drift", reply.drift)):
        if it_is:
            session.counts[name] = session.counts.get(name, 0) + 1
    if reply.drift:
        session.note("warning", f"drift: {call} {reply.drift}")


def _record(session: Session, request: ModelRequest, call: str, watch: _Watch) -> None:
    reply, facts = watch.reply, watch.facts()
    error = watch.error or facts.error or (None if facts.complete else "the stream broke off")
    calls, http = facts.tool_calls, reply.status if reply else 0
    if facts.tokens or not 400 <= http < 500:  # a request that was refused has used none
        session.add_tokens(facts.tokens, request.role)
    if request.role == "agent":
        session.budget.heard(http)
        if facts.text and request.fields["purpose"] == "step":
            session.last_text = facts.text
        session.shown.append(_shown(request, call, http))
        calls = session.conversation.response(call, http, facts, error, session.clock.wall)
        session.counts["acts"] += session.conversation.acts(calls)
        _count_searches(session, request, facts)
    waited = reply.waited if reply else 0.0
    began = watch.began + waited
    session.log(
        "gateway",
        "model_response",
        {
            "call": call,
            "http": http,
            "finish": facts.finish,
            "text": facts.text,
            "reasoning": facts.reasoning,
            "tool_calls": [asked.model_dump() for asked in calls],
            "in_text": (bool(calls) and not facts.tool_calls) or None,
            "provider_calls": [made.model_dump(exclude_none=True) for made in facts.provider_calls] or None,
            "tokens": facts.tokens and facts.tokens.model_dump(exclude_none=True),
            "seconds": round(time.monotonic() - began, 4),
            "first_token_seconds": round(watch.first - began, 4) if watch.first else None,
            "waited": waited,
            "tries": reply.tries if reply else 0,
            "cached": (reply and reply.cached) or None,
            "error": error,
            "forked": reply and reply.forked,
        },
    )


def _count_searches(session: Session, request: ModelRequest, facts: ResponseFacts) -> None:
    """Requests that let the server search the web itself, and searches that its replies tell of."""
    if request.fields["provider_search"]:
        for name, more in (("provider_search_offers", 1), ("provider_searches", len(facts.provider_calls))):
            session.counts[name] = session.counts.get(name, 0) + more


def _shown(request: ModelRequest, call: str, http: int) -> Shown:
    fields = request.fields
    receipt = fields["task_picture"] and Receipt.model_validate(fields["task_picture"])
    main, partial = fields["purpose"] == "step", bool(fields["partial"])
    return Shown(call, receipt, fields["tools"], main, partial, http)
