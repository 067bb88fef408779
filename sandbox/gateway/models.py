"""GET /v1/models, and POST /v1/chat/completions, /v1/responses, /v1/messages: the tap.

Bytes pass as they are, in the same format in and out; only the model's name, forced parameters and the key
change.
"""

from __future__ import annotations

import asyncio

from aiohttp import web

from fieldmark.errors import EpisodeFault, ModelFault
from fieldmark.sandbox.gateway import modelcall, tap
from fieldmark.sandbox.gateway.bodies import read_body
from fieldmark.sandbox.gateway.modelcall import ModelRequest
from fieldmark.sandbox.gateway.recipient import recipient, served
from fieldmark.sandbox.gateway.replies import Refused, gone
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import Upstream, UpstreamReply
from fieldmark.sandbox.gateway.wire import messages, requests
from fieldmark.sandbox.gateway.wire.common import Body
from fieldmark.sandbox.gateway.wire.formats import format_of


async def call(session: Session, request: web.BaseRequest) -> web.StreamResponse:
    """Forward one call. A fault of the upstream ends the episode as the model's boundary, not the agent's."""
    raw = await read_body(session, request)
    wire = format_of(request.path)
    # in a thread: hashing and packing megabytes would hold up every other episode
    to = await session.in_thread(recipient, session, wire, raw)
    asked = await session.in_thread(
        modelcall.take_apart, session, to.upstream, wire, raw, request.headers, to.role
    )
    name = to.take(asked.digest)
    try:
        return await session.work(  # type: ignore[no-any-return]
            _forward(session, to.upstream, request, asked, name)
        )
    except EpisodeFault as fault:
        session.fail(fault)
    except asyncio.CancelledError:
        if not session.ended.done():
            raise
    return gone(request.path)


async def count_tokens(session: Session, request: web.BaseRequest) -> web.StreamResponse:
    """Pass a count through: it is no model call, and a server that cannot count is no fault."""
    raw = await read_body(session, request)
    whole, _, body = await session.in_thread(modelcall.parse, messages, raw)
    named = {"model": session.upstream.name} if body.get("model") != session.upstream.name else {}
    payload = requests.changed(whole, named).encode()
    try:
        return await session.work(_count(session, payload, request))  # type: ignore[no-any-return]
    except ModelFault as fault:
        raise Refused(404, "not_found", str(fault)) from None


async def list_models(session: Session, request: web.BaseRequest) -> web.Response:
    """The run's model and its eyes, in a list that the clients of OpenAI and of Anthropic can read."""
    names = served(session)
    ends = {"first_id": names[0], "last_id": names[-1], "has_more": False}
    return web.json_response({"object": "list", "data": [_described(name) for name in names], **ends})


async def one_model(session: Session, request: web.BaseRequest) -> web.Response:
    """A model of the run by its name."""
    name, names = request.path.removeprefix("/v1/models/"), served(session)
    if name not in names:
        known = " and ".join(map(repr, names))
        raise Refused(404, "model_not_found", f"no model {name[:200]!r}: this run has {known}")
    return web.json_response(_described(name))


async def last_reply(session: Session, request: web.BaseRequest) -> web.Response:
    """The last text of the agent's model: its answer, where an agent of others has printed none."""
    return web.Response(text=session.last_text)


async def _forward(
    session: Session, upstream: Upstream, request: web.BaseRequest, asked: ModelRequest, name: str
) -> web.StreamResponse:
    await tap.look_for_picture(session, asked)
    async with tap.recorded(session, upstream, asked, name) as reply:
        return await (_pass_stream(request, reply) if reply.streams else _pass_whole(reply))


async def _count(session: Session, payload: bytes, request: web.BaseRequest) -> web.Response:
    headers = modelcall.passed_on(request.headers)
    async with session.upstream.send(
        messages.COUNT_PATH, payload, session.clock, whole=True, headers=headers
    ) as reply:
        return await _pass_whole(reply)


async def _pass_whole(reply: UpstreamReply) -> web.Response:
    body = b"".join([chunk async for chunk in reply.chunks])
    return web.Response(body=body, status=reply.status, headers={"Content-Type": reply.content_type})


async def _pass_stream(request: web.BaseRequest, reply: UpstreamReply) -> web.StreamResponse:
    response = web.StreamResponse(status=reply.status, headers={"Content-Type": reply.content_type})
    await response.prepare(request)
    try:
        async for chunk in reply.chunks:
            await response.write(chunk)
    except EpisodeFault:
        if request.transport:
            request.transport.abort()  # a reply that has begun can only be broken off
        raise
    await response.write_eof()
    return response


def _described(name: str) -> Body:
    openai = {"id": name, "object": "model", "created": 0, "owned_by": "fieldmark"}
    return {**openai, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
