"""Built-in models, rendered in the Chat Completions wire format: no key, no network."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.scout.policy import SEES, respond
from fieldmark.sandbox.gateway.upstream import UpstreamReply

BUILTIN = ("builtin/scout",)


class ScoutUpstream:
    """`builtin/scout`: a rule-based baseline without a vision model (see `scout/policy.py`)."""

    name = "builtin/scout"
    sees = SEES

    async def close(self) -> None:
        """Nothing to close."""

    @asynccontextmanager
    async def chat(self, payload: bytes, clock: Clock, *, whole: bool) -> AsyncIterator[UpstreamReply]:
        body = json.loads(payload)
        reply = respond(body)
        message = _message(reply.text, reply.tool_calls)
        if body.get("stream"):
            yield UpstreamReply(200, "text/event-stream", _stream(message))
        else:
            yield UpstreamReply(200, "application/json", _whole(message))


def _message(text: str | None, calls: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{uuid.uuid4().hex[:12]}",
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                },
            }
            for call in calls
        ]
    return message


def _envelope(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, **choice}
    return {
        "id": f"scout-{uuid.uuid4().hex[:12]}", "object": kind, "created": int(time.time()),
        "model": ScoutUpstream.name, "choices": [choice],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }  # fmt: skip


def _finish(message: dict[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


async def _whole(message: dict[str, Any]) -> AsyncIterator[bytes]:
    choice = {"message": message, "finish_reason": _finish(message)}
    yield json.dumps(_envelope("chat.completion", choice), ensure_ascii=False).encode()


async def _stream(message: dict[str, Any]) -> AsyncIterator[bytes]:
    calls = [{"index": i, **call} for i, call in enumerate(message.get("tool_calls", []))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": _finish(message)}):
        event = json.dumps(_envelope("chat.completion.chunk", choice), ensure_ascii=False)
        yield f"data: {event}\n\n".encode()
    yield b"data: [DONE]\n\n"
