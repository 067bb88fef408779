"""The door itself: the socket's permissions, the worker's polls, and the web that is not offered."""

from __future__ import annotations

import asyncio
import socket
import stat

import pytest

from fieldmark.client import GatewayRefused
from tests.sandbox.gateway.conftest import Enter


async def test_only_this_user_reaches_the_folder_and_any_uid_the_socket(enter: Enter) -> None:
    from pathlib import Path

    async with enter() as inside:
        path = Path(inside.client.path)
        modes = [stat.S_IMODE(p.stat().st_mode) for p in (path.parent.parent, path.parent, path)]
    assert modes == [0o700, 0o755, 0o666]
    assert len(str(path)) < 107
    assert not path.parent.parent.exists()


async def test_the_prompt_holds_nothing_but_what_an_agent_may_see(enter: Enter) -> None:
    async with enter() as inside:
        prompt = (await inside.ask("GET", "/episode")).json()
    assert set(prompt) == {
        "token", "question", "language", "image", "view", "picture_notes", "notes",
        "skills", "tools", "model", "sees", "space", "limits", "skill_calls", "ocr", "eyes",
        "context", "output", "reply",
    }  # fmt: skip
    assert "a gradient" not in str(prompt)


@pytest.mark.parametrize(
    "line",
    ["CONNECT example.org:443 HTTP/1.1", "GET http://example.org/ HTTP/1.1"],
    ids=["CONNECT", "absolute form"],
)
async def test_the_web_is_denied_and_the_attempt_is_logged(enter: Enter, line: str) -> None:
    async with enter() as inside:
        answer = await asyncio.to_thread(_raw, inside.client.path, f"{line}\r\nHost: example.org\r\n\r\n")
        [egress] = inside.events("egress")
    assert answer.startswith("HTTP/1.1 403")
    assert (egress["decision"], egress["http"]) == ("denied", 403)
    assert "example.org" in egress["url"]


async def test_an_unknown_route_is_named(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match="no route GET /gold"):
            await inside.ask("GET", "/gold")


async def test_garbage_on_the_socket_does_not_hurt_the_door(enter: Enter) -> None:
    async with enter() as inside:
        await asyncio.to_thread(_raw, inside.client.path, "\x00\x01 garbage\r\n\r\n")
        assert (await inside.ask("GET", "/health")).json() == {"ok": True}


def _raw(path: str, request: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(path)
        connection.sendall(request.encode())
        return connection.recv(65536).decode("utf-8", "replace")
