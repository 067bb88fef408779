"""The cache of model replies: what is kept, for whom, and what is asked again."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from tenacity import wait_none

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.cache import CachedUpstream, ReplyCache
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from tests.model_server import Call, ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.wire.samples import FORMATS, ask, request

REPLIES = [Reply(f"sample {n}", [Call("ocr", {"n": n})]) for n in range(9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def to(server: ModelServer, folder: Path, task: str = "t", epoch: int = 0, **options: Any) -> CachedUpstream:
    """The server behind a cache that was opened anew, as another run does."""
    upstream = HttpUpstream("scripted", server.url, back_off=wait_none(), **options)
    return CachedUpstream(upstream, ReplyCache(folder)).for_episode(task, epoch)


async def said(inside: Inside, wire: str = "chat_completions", **options: Any) -> dict[str, Any]:
    """What the trace says of one call."""
    await ask(inside, wire, request(wire, **options))
    response: dict[str, Any] = inside.events("model_response")[-1]
    return response


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_same_request_is_asked_once(enter: Enter, folder: Path, wire: str, stream: bool) -> None:
    with ModelServer(REPLIES) as server:
        async with enter(to(server, folder)) as inside:
            body = request(wire, stream=stream)
            first = await ask(inside, wire, body)
            [response] = inside.events("model_response")
        async with enter(to(server, folder)) as inside:
            second = await ask(inside, wire, body)
            [again] = inside.events("model_response")
            counts = inside.session.counts
    assert len(server.requests) == 1
    assert second.body == first.body
    assert second.headers["content-type"] == first.headers["content-type"]
    assert "cached" not in response
    assert (again["cached"], again["tries"], counts["cached_calls"]) == (True, 0, 1)
    for field in ("text", "tool_calls", "finish", "tokens"):
        assert again[field] == response[field]


async def test_twice_in_an_episode_is_two_samples(enter: Enter, folder: Path) -> None:
    with ModelServer(REPLIES) as server:
        for _ in range(2):
            async with enter(to(server, folder)) as inside:
                texts = [(await said(inside))["text"] for _ in range(2)]
            assert texts == ["sample 0", "sample 1"]
    assert len(server.requests) == 2


async def test_another_task_epoch_parameter_or_stream_is_asked_anew(enter: Enter, folder: Path) -> None:
    with ModelServer(REPLIES) as server:
        others = [
            to(server, folder),
            to(server, folder, epoch=1),
            to(server, folder, task="other"),
            to(server, folder, force={"temperature": 0}),
        ]
        for upstream in others:
            async with enter(upstream) as inside:
                await said(inside)
        async with enter(to(server, folder)) as inside:
            await said(inside, stream=True)
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    "bad",
    [
        Reply(status=400),
        Reply("half a stream", cut=True),
        Reply(raw=[b'data: {"choices":[{"delta":{"content":"no end"}}]}\n\n']),
        Reply(raw=[b"data: [DONE]\n\n", b'data: {"error":{"message":"overloaded"}}\n\n']),
    ],
)
async def test_what_is_not_whole_or_an_error_is_not_kept(enter: Enter, folder: Path, bad: Reply) -> None:
    with ModelServer([bad, Reply("sound")]) as server:
        async with enter(to(server, folder)) as inside:
            with contextlib.suppress(GatewayRefused, GatewayGone):
                await said(inside, stream=True)
        async with enter(to(server, folder)) as inside:
            assert (await said(inside, stream=True))["text"] == "sound"
    assert len(server.requests) == 2


def test_two_caches_of_one_folder_write_at_once(folder: Path) -> None:
    first, second = ReplyCache(folder), ReplyCache(folder)
    first.put("k", "text/plain", b"first")
    second.put("k", "text/plain", b"second")
    assert second.get("k") == first.get("k") == ("text/plain", b"first")
    assert first.get("other") is None


def test_a_folder_that_cannot_be_used_is_told(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(UsageError, match="name a folder to write to"):
        ReplyCache(folder)
