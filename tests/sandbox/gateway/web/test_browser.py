"""The browser's own proxy: TLS ended by the gateway, the same policy, and what is not let through."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fieldmark.sandbox.gateway.web.browser import SOCKET
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.web.conftest import PAGE, MakeDoor, OddSite


def blind_trust() -> ssl.SSLContext:
    """What a browser does with `ignore_https_errors`."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@asynccontextmanager
async def connected(
    inside: Inside, socket: str = SOCKET
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    path = Path(inside.client.path).with_name(socket)
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        yield reader, writer
    finally:
        writer.close()


async def say(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *lines: str
) -> tuple[str, dict[str, str], bytes]:
    """One request; status line, headers and body of the reply."""
    writer.write("\r\n".join([*lines, "", ""]).encode())
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode()
    status, *rest = head.strip().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest)
    bare = lines[0].startswith(("HEAD", "CONNECT"))
    body = b"" if bare else await reader.readexactly(int(headers.get("content-length", 0)))
    return status, headers, body


async def test_pages_pass_without_tls_and_cookies_stay_outside(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    async with enter(web=door_to()) as inside, connected(inside) as (reader, writer):
        get = [f"GET {odd_site.http}/page HTTP/1.1", "Host: x", "Cookie: a=b", "Accept: text/html"]
        for _ in range(2):  # one connection serves many requests
            status, headers, body = await say(reader, writer, *get)
        head, _, nothing = await say(reader, writer, f"HEAD {odd_site.http}/page HTTP/1.1", "Host: x")
        moved, where, _ = await say(
            reader, writer, f"GET {odd_site.http}/redirect?to=http://10.0.0.1/ HTTP/1.1", "Host: x"
        )
        denied, _, why = await say(reader, writer, "GET http://10.0.0.1/ HTTP/1.1", "Host: x")
    assert (status, body) == ("HTTP/1.1 200 OK", PAGE.encode())
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-language"] == "en"
    assert "set-cookie" not in headers
    assert "Cookie" not in odd_site.asked[0].headers
    assert (head, nothing) == ("HTTP/1.1 200 OK", b"")
    assert moved.startswith("HTTP/1.1 302")  # the browser itself goes on, and is asked about again
    assert where["location"] == "http://10.0.0.1/"
    assert denied.startswith("HTTP/1.1 403")
    assert b"private address" in why


async def test_tls_is_ended_and_the_requests_inside_are_seen(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    authority = odd_site.https.removeprefix("https://")
    async with enter(web=door_to()) as inside, connected(inside) as (reader, writer):
        status, _, _ = await say(reader, writer, f"CONNECT {authority} HTTP/1.1", f"Host: {authority}")
        assert status.startswith("HTTP/1.1 200")
        await writer.start_tls(blind_trust(), server_hostname="guide.test")
        for path in ("/page", "/page?2"):
            got = await say(reader, writer, f"GET {path} HTTP/1.1", "Host: elsewhere.example")
            assert got[2] == PAGE.encode()
        post = await say(reader, writer, "POST /page HTTP/1.1", "Host: x", "Content-Length: 0")
        urls = [(egress["url"], egress["decision"]) for egress in inside.events("egress")]
    assert post[0].startswith("HTTP/1.1 403")
    assert urls == [
        (f"{odd_site.https}/page", "allowed"),
        (f"{odd_site.https}/page?2", "allowed"),
        (f"{odd_site.https}/page", "denied"),
    ]
    assert len(odd_site.asked) == 2


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
async def test_upgrades_are_refused(enter: Enter, door_to: MakeDoor, odd_site: OddSite, upgrade: str) -> None:
    async with enter(web=door_to()) as inside, connected(inside) as (reader, writer):
        status, _, _ = await say(
            reader, writer, f"GET {odd_site.http}/page HTTP/1.1", "Host: x",
            "Connection: keep-alive, Upgrade", f"Upgrade: {upgrade}",
            "Sec-WebSocket-Key: eA==", "Sec-WebSocket-Version: 13",
        )  # fmt: skip
        [egress] = inside.events("egress")
    assert status.startswith("HTTP/1.1 403")
    assert egress["decision"] == "denied"
    assert odd_site.asked == []


async def test_garbage_in_a_tunnel_does_not_hurt_the_door(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite
) -> None:
    async with enter(web=door_to()) as inside:
        for _ in range(3):
            async with connected(inside) as (reader, writer):
                await say(reader, writer, "CONNECT guide.test:443 HTTP/1.1", "Host: x")
                writer.write(b"this is no TLS\r\n\r\n" * 100)
                assert await asyncio.wait_for(reader.read(), 10) is not None
        async with connected(inside) as (reader, writer):
            status, _, _ = await say(reader, writer, f"GET {odd_site.http}/page HTTP/1.1", "Host: x")
        assert (await inside.ask("GET", "/health")).json() == {"ok": True}
        assert not inside.session.ended.done()
    assert status == "HTTP/1.1 200 OK"


@pytest.mark.parametrize("line", ["CONNECT guide.test:443 HTTP/1.1", "GET http://guide.test/ HTTP/1.1"])
async def test_other_programs_are_told_which_tool_to_use(
    enter: Enter, door_to: MakeDoor, odd_site: OddSite, line: str
) -> None:
    async with enter(web=door_to()) as inside, connected(inside, "gateway.sock") as (reader, writer):
        writer.write(f"{line}\r\nHost: guide.test\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.read(4096), 10)
        [egress] = inside.events("egress")
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"use: fieldmark tool open_page" in answer
    assert egress["decision"] == "denied"
    assert odd_site.asked == []
