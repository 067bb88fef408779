"""A framework as its gateway sees it: requests in its own shapes, posted for real, one after another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from tenacity import wait_none

from fieldmark.evals.metrics.acts import EpisodeActs, episode_acts
from fieldmark.evals.metrics.turns import Turn, turns
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.trace import Event, parse_event
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside

Body = dict[str, Any]


@dataclass
class Framework:
    """What runs inside: it asks, and claims."""

    inside: Inside

    async def ask(
        self, body: Body, route: str = "/v1/chat/completions", headers: Mapping[str, str] | None = None
    ) -> int:
        """Post one request; the status of the reply."""
        connector = aiohttp.UnixConnector(self.inside.client.path)
        async with (
            aiohttp.ClientSession(connector=connector) as client,
            client.post(f"http://gateway{route}", json=body, headers=headers) as reply,
        ):
            await reply.read()
            return reply.status

    async def chat(
        self, *messages: Body, tools: Sequence[str] = (), headers: Mapping[str, str] | None = None
    ) -> int:
        body: Body = {"model": "scripted", "messages": list(messages)}
        if tools:
            body["tools"] = [{"type": "function", "function": {"name": name}} for name in tools]
        return await self.ask(body, headers=headers)

    async def claim(self, kind: str, **fields: Any) -> None:
        await self.inside.post("/events", {"kind": kind, **fields})

    # -- what the trace says of it ---------------------------------------------------------------

    def events(self) -> list[Event]:
        return [parse_event(row) for row in self.inside.events()]

    def turns(self) -> list[Turn]:
        return turns(self.events())

    def acts(self) -> EpisodeActs:
        return episode_acts(self.events())

    def purposes(self) -> list[str]:
        return [row["purpose"] for row in self.inside.events("model_request")]

    def results(self) -> list[tuple[str, str, str | None]]:
        """(call, name, error_kind or "ok") of each result that the gateway wrote, in order."""
        names = {row["call"]: row["name"] for row in self.inside.events("tool_call")}
        rows = [row for row in self.inside.events("tool_result") if row["by"] == "gateway"]
        return [
            (row["call"], names[row["call"]], "ok" if row["ok"] else row.get("error_kind")) for row in rows
        ]


Playing = Callable[[Sequence[Reply]], AbstractAsyncContextManager[Framework]]


@pytest.fixture
def playing(enter: Enter) -> Playing:
    """`async with playing([Reply(…), …]) as framework:` a model that answers with these replies in order."""

    @asynccontextmanager
    async def play(replies: Sequence[Reply]) -> AsyncIterator[Framework]:
        with ModelServer(replies) as server:
            upstream = HttpUpstream("scripted", server.url, back_off=wait_none())
            async with enter(upstream) as inside:
                yield Framework(inside)

    return play


def system(text: str) -> Body:
    return {"role": "system", "content": text}


def user(text: str) -> Body:
    return {"role": "user", "content": text}


def assistant(*calls: tuple[str, str, str], text: str = "") -> Body:
    """`calls` are (id, name, arguments)."""
    asked = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}


def result(call: str, text: str) -> Body:
    return {"role": "tool", "tool_call_id": call, "content": text}
