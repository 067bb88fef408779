"""POST /v1/chat/completions: the tap. The request is recorded on arrival, the response on completion.

Bytes pass as they are; only the model's name and the key change.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from aiohttp import web

from fieldmark import jsonl
from fieldmark.errors import EpisodeFault
from fieldmark.sandbox.gateway import wire
from fieldmark.sandbox.gateway.bodies import parse_json, read_body
from fieldmark.sandbox.gateway.headers import picture_size
from fieldmark.sandbox.gateway.replies import Refused, gone, openai_error
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import UpstreamReply
from fieldmark.trace import Picture

MAX_MESSAGES = 2_000
MAX_SETTINGS = 64_000
"""Bytes of all of a request but its messages and tool schemas: they stand in the trace itself."""


async def list_models(session: Session, request: web.BaseRequest) -> web.Response:
    """The one model of this run."""
    return web.json_response({"object": "list", "data": [{"id": session.prompt.model, "object": "model"}]})


async def chat_completions(session: Session, request: web.BaseRequest) -> web.StreamResponse:
    """Forward one call. A fault of the upstream ends the episode as the model's boundary, not the agent's."""
    raw = await read_body(session, request)
    body = parse_json(raw)
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise Refused(400, "malformed", "the body is not a Chat Completions request")
    if len(body["messages"]) > MAX_MESSAGES:
        raise Refused(413, "too_large", f"a request has at most {MAX_MESSAGES} messages")
    # in a thread: hashing and packing megabytes would hold up every other episode
    seen, payload = await session.in_thread(_take_apart, session, body, raw)
    call = session.take_model_call()
    if call is None:
        return openai_error(400, "budget_exhausted", "the budget of model calls of this episode is used up")
    session.log("gateway", "model_request", {"call": call, **seen})
    try:
        reply: web.StreamResponse = await session.work(
            _forward(session, request, call, payload, bool(body.get("stream")))
        )
        return reply
    except EpisodeFault as fault:
        session.fail(fault)
    except asyncio.CancelledError:
        if not session.ended.done():
            raise
    return gone()


async def _forward(
    session: Session, request: web.BaseRequest, call: str, payload: bytes, stream: bool
) -> web.StreamResponse:
    began = time.monotonic()
    reader = wire.StreamReader()
    seen = _Seen(began)
    try:
        async with session.upstream.chat(payload, session.clock, whole=not stream) as reply:
            seen.reply = reply
            if "event-stream" in reply.content_type:
                return await _pass_stream(request, reply, reader, seen)
            seen.body = b"".join([chunk async for chunk in reply.chunks])
            return web.Response(
                body=seen.body, status=reply.status, headers={"Content-Type": reply.content_type}
            )
    except BaseException as error:
        seen.error = f"{type(error).__name__}: {error}"[:300]
        raise
    finally:
        _record_response(session, call, reader, seen)


class _Seen:
    """What the tap noticed of one reply; `first` is the moment of its first chunk."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.first: float | None = None
        self.reply: UpstreamReply | None = None
        self.body: bytes | None = None
        self.error: str | None = None


async def _pass_stream(
    request: web.BaseRequest, reply: UpstreamReply, reader: wire.StreamReader, seen: _Seen
) -> web.StreamResponse:
    response = web.StreamResponse(status=reply.status, headers={"Content-Type": reply.content_type})
    await response.prepare(request)
    try:
        async for chunk in reply.chunks:
            seen.first = seen.first or time.monotonic()
            reader.feed(chunk)
            await response.write(chunk)
    except EpisodeFault:
        if request.transport:
            request.transport.abort()  # a reply that has begun can only be broken off
        raise
    await response.write_eof()
    return response


def _take_apart(session: Session, body: dict[str, Any], raw: bytes) -> tuple[dict[str, Any], bytes]:
    """Store what a request holds; returns its `model_request` event, and the bytes to send."""
    sent = {} if body.get("model") == session.upstream.name else {"model": session.upstream.name}
    tools = body.get("tools")
    settings = {
        "role": "agent",
        "purpose": "step",
        "wire": "chat_completions",
        "model": session.upstream.name,
        "asked": {key: value for key, value in body.items() if key not in ("messages", "tools")},
        "sent": sent,
        "tools": wire.tool_names(body),
    }
    if len(jsonl.encode(settings)) > MAX_SETTINGS:
        raise Refused(413, "too_large", f"the settings of a request are over {MAX_SETTINGS} bytes")
    pictures: list[Picture] = []

    def store(data: bytes, media_type: str) -> str:
        pictures.append(_store_picture(session, data, media_type))
        return pictures[-1].blob

    messages = [
        session.blobs.put_text(wire.compact(wire.without_pictures(message, store)))
        for message in body["messages"]
    ]
    rebuilt = wire.compact(body).encode("utf-8", "replace")
    parts = {
        "tools_blob": session.blobs.put_text(wire.compact(tools)) if tools else None,
        "messages": messages,
        "pictures": [picture.model_dump(exclude_none=True) for picture in pictures],
        # a client that writes JSON in another way: its own spelling is kept beside, so that nothing is lost
        "raw": None if rebuilt == raw else session.blobs.put_text(wire.without_uris(raw, session.blobs.put)),
    }
    payload = wire.compact({**body, **sent}).encode("utf-8", "replace") if sent else raw
    return {**settings, **parts}, payload


def _store_picture(session: Session, data: bytes, media_type: str) -> Picture:
    blob = session.blobs.put(data, media_type)
    known = session.known_pictures.get(blob)
    if known is None:
        width, height = picture_size(data)
        known = Picture(blob=blob, media_type=media_type, width=width, height=height)
        session.known_pictures[blob] = known
    return known


def _record_response(session: Session, call: str, reader: wire.StreamReader, seen: _Seen) -> None:
    reply = seen.reply
    facts = wire.read_response(seen.body) if seen.body is not None else reader.facts()
    session.add_tokens(facts.tokens)
    session.counts["acts"] += sum(asked.name != "answer" for asked in facts.tool_calls)
    waited = reply.waited if reply else 0.0
    session.log(
        "gateway",
        "model_response",
        {
            "call": call,
            "http": reply.status if reply else 0,
            "finish": facts.finish,
            "text": facts.text,
            "reasoning": facts.reasoning,
            "tool_calls": [asked.model_dump() for asked in facts.tool_calls],
            "tokens": facts.tokens and facts.tokens.model_dump(exclude_none=True),
            "seconds": round(time.monotonic() - seen.began - waited, 4),
            "first_token_seconds": round(seen.first - seen.began - waited, 4) if seen.first else None,
            "waited": waited,
            "tries": reply.tries if reply else 0,
            "error": seen.error or facts.error or (None if facts.complete else "the stream broke off"),
        },
    )
