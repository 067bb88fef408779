"""Built-in models: served in every wire format, without key or network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.scout.policy import SEES, respond
from fieldmark.sandbox.gateway.upstream import UpstreamReply, each
from fieldmark.sandbox.gateway.wire import messages
from fieldmark.sandbox.gateway.wire.common import compact
from fieldmark.sandbox.gateway.wire.formats import format_of
from fieldmark.sandbox.gateway.wire.rendering import Said, call_id, render, render_stream
from fieldmark.trace import CallRequest, Purpose, Tokens

BUILTIN = ("builtin/scout",)
NO_TOKENS = Tokens(input=0, output=0, cached=0, reasoning=0)
"""Rules use none."""


class ScoutUpstream:
    """`builtin/scout`: a rule-based baseline without a vision model (see `scout/policy.py`).

    `force` is recorded as sent; rules have no sampling.
    """

    name = "builtin/scout"
    sees = SEES

    def __init__(self, force: Mapping[str, Any] | None = None) -> None:
        self.force: Mapping[str, Any] = force or {}

    def for_episode(self, task: str, epoch: int) -> ScoutUpstream:
        return self

    async def close(self) -> None:
        """Nothing to close."""

    @asynccontextmanager
    async def send(
        self, path: str, payload: bytes, clock: Clock, *, whole: bool, headers: Mapping[str, str],
        purpose: Purpose = "step",
    ) -> AsyncIterator[UpstreamReply]:  # fmt: skip
        wire, body = format_of(path), json.loads(payload)
        if path == messages.COUNT_PATH:
            yield UpstreamReply(200, "application/json", each([b'{"input_tokens":0}']))
            return
        reply = respond(wire.as_chat(body))
        key = hashlib.sha256(payload).hexdigest()  # the same request has the same reply, to its ids
        calls = [
            CallRequest(id=call_id(key, number), name=call["name"], arguments=compact(call["arguments"]))
            for number, call in enumerate(reply.tool_calls)
        ]
        said = Said(self.name, key, reply.text, calls, tokens=NO_TOKENS)
        if body.get("stream"):
            yield UpstreamReply(200, "text/event-stream", each(render_stream(wire, said)))
        else:
            yield UpstreamReply(200, "application/json", each([render(wire, said)]))
