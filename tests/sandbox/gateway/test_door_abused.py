"""HTTP as no honest client writes it: the door serves the next request, and the episode goes on."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import time

import pytest

from fieldmark.sandbox.gateway.door import MAX_CONNECTIONS
from tests.sandbox.gateway.conftest import Enter, Inside

POST = b"POST /events HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
EVENT = b'{"kind":"log","level":"info","message":"x"}'

ABUSES = {
    "huge header": b"GET /health HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\n"
    + b"".join(b"X-%d: 1\r\n" % n for n in range(20_000))
    + b"\r\n",
    "huge request line": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    "chunk size that is none": CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n",
    "negative chunk size": CHUNKED + b"-5\r\nabc\r\n0\r\n\r\n",
    "enormous chunk size": CHUNKED + b"ffffffffffffffffffff\r\nabc",
    "chunk longer than it says": CHUNKED + b"2\r\nabcdef\r\n0\r\n\r\n",
    "chunk extension of megabytes": CHUNKED + b"1;" + b"e" * 2_000_000 + b"\r\na\r\n0\r\n\r\n",
    "no last chunk": CHUNKED + b"5\r\nabcde\r\n",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative length": POST + b"Content-Length: -1\r\n\r\n",
    "length of 10^30": POST + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\nabc",
    "body that ends early": POST + b"Content-Length: 1000\r\n\r\nabc",
    "folded header": b"GET /health HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
    "bare newlines": b"GET /health HTTP/1.1\nHost: x\n\n",
    "zero byte in a path": b"GET /ima\x00ge HTTP/1.1\r\n\r\n",
    "http/9": b"GET /health HTTP/9.9\r\n\r\n",
    "http/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "upgrade": b"GET /health HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "expect that is none": POST + b"Expect: 999-nothing\r\nContent-Length: 2\r\n\r\n{}",
    "gzip that is none": POST + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    "a hundred requests at once": b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 100,
}


@pytest.mark.parametrize("abuse", ABUSES.values(), ids=ABUSES.keys())
async def test_a_malformed_request_ends_itself_alone(enter: Enter, abuse: bytes) -> None:
    async with enter() as inside:
        await asyncio.to_thread(send, inside, abuse)
        await serves_on(inside)


async def test_slow_clients_hold_no_other_back(enter: Enter) -> None:
    async with enter() as inside:
        path = inside.client.path
        slow = [
            await asyncio.to_thread(half_sent, path, POST + b"Content-Length: 40\r\n\r\n{") for _ in range(60)
        ]
        begun = time.monotonic()
        await serves_on(inside)
        assert time.monotonic() - begun < 5
        for connection in slow:
            connection.close()
        await no_connection_left(inside)


async def test_more_connections_than_a_container_may_have_are_broken_off(enter: Enter) -> None:
    async with enter() as inside:
        path = inside.client.path
        held = [await asyncio.to_thread(half_sent, path, b"GET /hea") for _ in range(MAX_CONNECTIONS + 40)]
        await asyncio.sleep(0.1)
        assert inside.door.connections() <= MAX_CONNECTIONS
        for connection in held:
            connection.close()
        await no_connection_left(inside)
        await serves_on(inside)


async def test_requests_changed_at_random_places_never_hurt_the_host(enter: Enter) -> None:
    draw = random.Random(20_261_130)
    good = [
        POST + b"Content-Length: %d\r\n\r\n" % len(EVENT) + EVENT,
        CHUNKED + b"%x\r\n" % len(EVENT) + EVENT + b"\r\n0\r\n\r\n",
        b"GET /image/region?box=1,2,30,40 HTTP/1.1\r\nHost: g\r\n\r\n",
        b"PUT /blobs HTTP/1.1\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\nabcd",
    ]
    async with enter() as inside:
        for _ in range(300):
            request = bytearray(draw.choice(good))
            for _ in range(draw.randint(1, 6)):
                place = draw.randrange(len(request))
                request[place : place + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 3))
            await asyncio.to_thread(send, inside, bytes(request[: draw.randint(1, len(request) + 1)]), 0.0)
        await serves_on(inside)
        await no_connection_left(inside, but=8)  # a refused body is read for ten seconds more, then dropped


async def serves_on(inside: Inside) -> None:
    assert (await inside.ask("GET", "/health")).json() == {"ok": True}
    await inside.post("/events", {"kind": "log", "level": "info", "message": "still here"})
    assert not inside.session.ended.done()


async def no_connection_left(inside: Inside, but: int = 0) -> None:
    async with asyncio.timeout(20):
        while inside.door.connections() > but:
            await asyncio.sleep(0.02)


def half_sent(path: str, request: bytes) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect(path)
    with contextlib.suppress(OSError):  # broken off already
        connection.sendall(request)
    return connection


def send(inside: Inside, request: bytes, wait: float = 0.3) -> None:
    """Send it, look whether anything comes back for `wait` seconds, and hang up."""
    with half_sent(inside.client.path, request) as connection, contextlib.suppress(OSError):
        connection.settimeout(wait or 0.001)
        connection.recv(65536)
