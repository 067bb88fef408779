"""POST /eyes: a question about pictures of the episode, put to the run's vision model.

One Chat Completions request a question, built here and recorded with role `eyes`: the agent chooses the words
of the question and the pictures, nothing else.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from fieldmark.errors import EpisodeFault, ModelFault, ToolError
from fieldmark.sandbox.gateway import tap
from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.replies import Refused, gone
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sandbox.gateway.wire import chat
from fieldmark.sandbox.gateway.wire.common import Body, as_dict

MAX_QUESTION = 4_000
MAX_PICTURES = 8
MAX_BYTES = 20 * 2**20
"""Characters, pictures and bytes of pictures of one question."""

Shown = tuple[bytes, str]
"""A picture's bytes and media type."""

_SYSTEM = (Path(__file__).parent / "eyes.md").read_text(encoding="utf-8").strip()


async def ask(session: Session, request: web.BaseRequest) -> web.StreamResponse:
    """`{"text", "model"}`. A fault of the upstream ends the episode as the model's boundary."""
    question, blobs = _checked(await read_json(session, request))
    if session.eyes is None:
        raise Refused(503, "unavailable", "this run has no vision model to ask")
    pictures = await session.in_thread(_pictures, session, blobs)
    if not session.eyes_left:
        raise Refused(429, "unavailable", "the questions of this episode to the vision model are used up")
    session.eyes_left -= 1
    body = request_body(session.eyes.name, question, pictures)
    try:
        status, reply = await tap.ask(session, session.eyes, body, role="eyes")
        return web.json_response({"text": text_of(status, reply), "model": session.eyes.name})
    except ToolError as error:
        raise Refused(502, error.kind, str(error)) from None
    except EpisodeFault as fault:
        session.fail(fault)
    except asyncio.CancelledError:
        if not session.ended.done():
            raise
    return gone(request.path)


def request_body(model: str, question: str, pictures: list[Shown]) -> Body:
    """The Chat Completions request of a question; several pictures are numbered in their order."""
    parts: list[dict[str, Any]] = []
    for number, (data, media_type) in enumerate(pictures, 1):
        if len(pictures) > 1:
            parts.append({"type": "text", "text": f"Picture {number}:"})
        uri = f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
        parts.append({"type": "image_url", "image_url": {"url": uri}})
    parts.append({"type": "text", "text": question})
    return {
        "model": model,
        "messages": [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": parts}],
    }


def text_of(status: int, body: Body) -> str:
    """What the model said. ToolError: it refused the request, or said nothing."""
    facts = chat.read_response(body)
    if status >= 400:
        raise ToolError(f"the vision model refused the question (HTTP {status}): {facts.error}", "runtime")
    if not (facts.text or "").strip():
        cut = "its reply was cut off at its limit of tokens"
        why = facts.error or (cut if facts.finish == "length" else "its reply is empty")
        raise ToolError(f"the vision model gave no answer: {why}", "runtime")
    return (facts.text or "").strip()


def alone(upstream: Upstream) -> Callable[[str, list[Shown]], dict[str, Any]]:
    """The vision model without an episode, for `fieldmark tool` on the host's own command line."""

    async def asked(payload: bytes) -> str:
        try:
            async with upstream.send(chat.PATH, payload, Clock(), whole=True, headers={}) as reply:
                body = b"".join([chunk async for chunk in reply.chunks])
            return text_of(reply.status, as_dict(json.loads(body)))
        except ValueError:
            raise ToolError("the vision model's reply is not JSON", "runtime") from None
        except ModelFault as fault:
            raise ToolError(str(fault), "unavailable") from None
        finally:
            await upstream.close()

    def ask(question: str, pictures: list[Shown]) -> dict[str, Any]:
        payload = json.dumps(request_body(upstream.name, question, pictures)).encode()
        return {"text": asyncio.run(asked(payload)), "model": upstream.name}

    return ask


def _checked(body: Any) -> tuple[str, list[str]]:
    question = body.get("question") if isinstance(body, dict) else None
    blobs = body.get("pictures") if isinstance(body, dict) else None
    if not isinstance(question, str) or not question.strip() or len(question) > MAX_QUESTION:
        raise Refused(400, "invalid_args", f"question is a text of 1 to {MAX_QUESTION} characters")
    if not isinstance(blobs, list) or not 1 <= len(blobs) <= MAX_PICTURES:
        raise Refused(400, "invalid_args", f"pictures is a list of 1 to {MAX_PICTURES} sha256 of pictures")
    return question, [str(blob) for blob in blobs]


def _pictures(session: Session, blobs: list[str]) -> list[Shown]:
    """The bytes of pictures that this episode has seen; a sandbox cannot name any other."""
    unknown = next((blob for blob in blobs if blob not in session.known_pictures), None)
    if unknown is not None:
        raise Refused(404, "not_found", f"no picture {unknown[:64]!r} in this episode")
    shown = [(session.blobs.get(blob), session.known_pictures[blob].media_type) for blob in blobs]
    if sum(len(data) for data, _ in shown) > MAX_BYTES:
        raise Refused(
            400, "invalid_args", f"the pictures are over {MAX_BYTES} bytes: ask about fewer or smaller"
        )
    return shown
