"""One model call: taken apart for the trace, sent, and watched on its way back.

A request is recorded on arrival, its reply on completion, however it ends.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from fieldmark import jsonl
from fieldmark.sandbox.gateway.bodies import count_parts, parse_json
from fieldmark.sandbox.gateway.conversation.said import Asked, read
from fieldmark.sandbox.gateway.headers import picture_size
from fieldmark.sandbox.gateway.receipts import known_receipt, look
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import Upstream, UpstreamReply
from fieldmark.sandbox.gateway.wire import chat, requests
from fieldmark.sandbox.gateway.wire.common import (
    Body,
    Format,
    ResponseFacts,
    StreamReader,
    as_dict,
    compact,
    read_whole,
)
from fieldmark.sandbox.gateway.wire.forcing import forced
from fieldmark.sight import Shown
from fieldmark.trace import Picture, Receipt, Role

MAX_MESSAGES = 2_000
MAX_SETTINGS = 64_000
"""Bytes of what stands in the trace itself: all of a request but its conversation and tool schemas."""
PASSED = ("accept", "anthropic-", "openai-beta", "user-agent", "x-stainless-")
"""Beginnings of the headers that go on to the upstream. None holds a key: that is the gateway's own."""
TELLING = frozenset(
    {
        "user-agent", "anthropic-version", "anthropic-beta", "openai-beta", "traceparent",
        "x-session-id", "x-parent-session-id", "session-id", "session_id", "thread-id",
    }
)  # fmt: skip
"""Headers that are recorded: what a client is, and which of its sessions or sub-agents is asking."""


@dataclass(frozen=True)
class ModelRequest:
    """A request that may be sent. `fields` are those of its event, `payload` the bytes for the upstream,
    `digest` is of the bytes that came, `said` what they say of the conversation.
    """

    wire: Format
    role: Role
    fields: dict[str, Any]
    payload: bytes
    digest: bytes
    headers: dict[str, str]
    pictures: list[Picture]
    said: Asked

    @property
    def streams(self) -> bool:
        """Whether a streamed reply is asked for."""
        return bool(self.fields["asked"].get("stream"))


async def look_for_picture(session: Session, request: ModelRequest) -> None:
    """Where the task picture is not among the known ones, somebody may have written it anew."""
    if request.fields["task_picture"] is None and request.pictures:
        receipt = await look(session, request.pictures)
        request.fields["task_picture"] = receipt and receipt.model_dump()


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


def take_apart(
    session: Session, upstream: Upstream, wire: Format, raw: bytes, headers: Mapping[str, str],
    role: Role = "agent",
) -> ModelRequest:  # fmt: skip
    """Read and store a request. Refused when it is none of this format, or over a limit."""
    whole, apart, body = parse(wire, raw)
    sent = changes(wire, upstream, body)
    telling = _lower(headers, lambda name: name in TELLING)
    for picture in apart.pictures:
        session.blobs.put(picture.data, picture.media_type)
    pictures = [_picture(session, picture) for picture in apart.pictures]
    receipt = known_receipt(session, pictures)
    fields = {
        "role": role,
        "purpose": "side",  # the agent's own requests: `Conversation`
        "wire": wire.NAME,
        "model": upstream.name,
        "sent": sent,
        **requests.fields(wire, whole, apart, body, session.blobs.put_text),
        "pictures": [picture.model_dump(exclude_none=True) for picture in pictures],
        "task_picture": receipt and receipt.model_dump(),
        "partial": wire.is_partial(body) or None,
        "headers": telling or None,
    }
    payload = requests.changed(whole, sent).encode() if sent else raw
    digest = hashlib.sha256(raw).digest()
    said = read(wire, body, telling)
    return ModelRequest(wire, role, fields, payload, digest, passed_on(headers), pictures, said)


def parse(wire: Format, raw: bytes) -> tuple[str, requests.Apart, Body]:
    """The text of a request; the same without its pictures; that, parsed. Refused when it is no request."""
    count_parts(raw)
    try:
        whole = raw.decode()
    except UnicodeDecodeError:
        raise Refused(400, "malformed", "the body is not JSON in UTF-8") from None
    apart = requests.without_pictures(whole)
    body = parse_json(apart.text.encode())
    if not isinstance(body, dict) or not wire.is_request(body):
        raise Refused(400, "malformed", f"the body is not a {wire.TITLE} request")
    _check_size(wire, body)
    return whole, apart, body


def changes(wire: Format, upstream: Upstream, body: Body) -> Body:
    """What is sent otherwise than it was asked: the model's name, and parameters that the run forces."""
    values = {"model": upstream.name, **forced(wire, upstream.force, body)}
    return {key: value for key, value in values.items() if key not in body or body[key] != value}


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The client's headers that go on to the upstream."""
    return _lower(headers, lambda name: name.startswith(PASSED) and name != "accept-encoding")


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
    session.add_tokens(facts.tokens, request.role)
    error = watch.error or facts.error or (None if facts.complete else "the stream broke off")
    calls, http = facts.tool_calls, reply.status if reply else 0
    if request.role == "agent":
        session.budget.heard(http)
        if facts.text and request.fields["purpose"] == "step":
            session.last_text = facts.text
        session.shown.append(_shown(request, call, http))
        calls = session.conversation.response(call, http, facts, error, session.clock.wall)
        session.counts["acts"] += session.conversation.acts(calls)
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
            "tokens": facts.tokens and facts.tokens.model_dump(exclude_none=True),
            "seconds": round(time.monotonic() - began, 4),
            "first_token_seconds": round(watch.first - began, 4) if watch.first else None,
            "waited": waited,
            "tries": reply.tries if reply else 0,
            "cached": (reply and reply.cached) or None,
            "error": error,
        },
    )


def _shown(request: ModelRequest, call: str, http: int) -> Shown:
    fields = request.fields
    receipt = fields["task_picture"] and Receipt.model_validate(fields["task_picture"])
    main, partial = fields["purpose"] == "step", bool(fields["partial"])
    return Shown(call, receipt, fields["tools"], main, partial, http)


def _check_size(wire: Format, body: Body) -> None:
    items = body.get(wire.ITEMS)
    if isinstance(items, list) and len(items) > MAX_MESSAGES:
        raise Refused(413, "too_large", f"a request has at most {MAX_MESSAGES} messages")
    settings = {key: body[key] for key in body.keys() - {wire.SYSTEM, wire.ITEMS, "tools"}}
    if len(jsonl.encode(settings)) > MAX_SETTINGS:
        raise Refused(413, "too_large", f"the settings of a request are over {MAX_SETTINGS} bytes")


def _picture(session: Session, picture: requests.Bytes) -> Picture:
    known = session.known_pictures.get(picture.blob)
    if known is None:
        width, height = picture_size(picture.data)
        known = Picture(blob=picture.blob, media_type=picture.media_type, width=width, height=height)
        session.known_pictures[picture.blob] = known
    return known.model_copy(update={"media_type": picture.media_type})


def _lower(headers: Mapping[str, str], wanted: Callable[[str], bool]) -> dict[str, str]:
    return {name.lower(): value[:1000] for name, value in headers.items() if wanted(name.lower())}
