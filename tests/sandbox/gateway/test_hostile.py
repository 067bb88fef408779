"""A sandbox that means harm: what comes through its door costs its own request, never the host or a verdict.

An outcome of `sandbox_error` would take the episode out of the denominators, so no request may cause one.
"""

from __future__ import annotations

import asyncio
import base64
import json
import resource
import socket
import threading
import time
import zlib
from typing import Any

import pytest

from fieldmark.client import GatewayClient, GatewayRefused
from fieldmark.sandbox.gateway import door
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.test_models import to

DEEP = b"[" * 900 + b"1e999" + b"]" * 900
SURROGATE = b'{"kind": "answer", "text": "a\\ud800b"}'
HUGE = b"1" + b"0" * 400


def raw(path: str, data: bytes, *, wait: float = 5.0) -> bytes:
    """Send bytes as they are; the whole reply up to the first pause or the end."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(wait)
        connection.connect(path)
        got = b""
        try:
            connection.sendall(data)
            while chunk := connection.recv(65536):
                got += chunk
                if b"\r\n\r\n" in got and b"HTTP/1.1 " in got:
                    connection.settimeout(0.3)
        except OSError:
            pass
        return got


def post(route: str, body: bytes, *headers: str, method: str = "POST") -> bytes:
    lines = [f"{method} {route} HTTP/1.1", "Host: g", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/events", b'{"kind": "log", "message": "x", "self": 1, "fields": 2}'),
        ("/events", b'{"kind": "log", "message": "x", "deep": ' + DEEP + b"}"),
        ("/events", b"[" * 200_000),
        ("/events", b'{"kind": "answer", "text": 5, "confidence": "high"}'),
        ("/events", b'{"kind": ["answer"], "text": "x"}'),
        ("/events", b'{"kind": {"a": 1}}'),
        ("/events", SURROGATE),
        ("/events", b'{"kind": "answer", "text": "x", "confidence": 1e999}'),
        ("/events", b'{"kind": "answer", "text": "x", "confidence": ' + HUGE + b"}"),
        ("/events", b'{"kind": "tool_result", "call": "1", "ok": true, "seconds": NaN}'),
        ("/events", b"\xff\xfe\x00"),
        ("/events", b""),
        ("/done", b"[" * 200_000),
        ("/done", b"[]"),
        ("/done", b'"x"'),
        ("/done", b'{"error": 5}'),
        ("/lookup/reverse-image", b'{"limit": null}'),
        ("/lookup/reverse-image", b'{"limit": 1e999}'),
        ("/lookup/reverse-image", b'{"limit": []}'),
        ("/lookup/reverse-image", b'{"limit": ' + HUGE + b"}"),
        ("/lookup/reverse-image", b'{"box": [' + HUGE + b",0,1,1]}"),
        ("/lookup/reverse-image", b'{"box": {"a": 1}}'),
        ("/lookup/reverse-image", b"[" * 200_000),
        ("/lookup/aircraft", b'{"query": ["\\ud800"]}'),
        ("/lookup/aircraft", b"5"),
        ("/v1/chat/completions", b'{"messages": ' + DEEP + b"}"),
        ("/v1/chat/completions", b'{"messages": [' + b"[" * 800 + b"]" * 800 + b"]}"),
        ("/v1/chat/completions", b'{"messages": 5}'),
        ("/v1/chat/completions", b'{"messages": [], "tools": 5, "model": {"a": NaN}, "stream": [1]}'),
        ("/v1/chat/completions", b'{"messages": [{"content": "\\ud800"}], "model": "\\udfff"}'),
    ],
    ids=lambda value: value[:48].decode("latin-1") if isinstance(value, bytes) else value,
)
async def test_no_body_is_a_fault_of_ours(enter: Enter, route: str, body: bytes) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            reply = await asyncio.to_thread(raw, inside.client.path, post(route, body))
            await unhurt(inside)
    status = int(reply.split()[1])
    assert 200 <= status < 500
    assert status != 410 or route == "/done"


@pytest.mark.parametrize(
    "data",
    [
        b"POST /events HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /events HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"POST /events HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        b"POST /events HTTP/1.1\r\nHost: g\r\nContent-Length: 100\r\n\r\nshort",
        b"POST /events HTTP/1.1\r\nHost: g\r\nContent-Length: -1\r\n\r\n",
        b"POST /events HTTP/1.1\r\nHost: g\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
        b"PUT /blobs HTTP/1.1\r\nHost: g\r\nContent-Type: \x01/;;=\r\nContent-Length: 1\r\n\r\nx",
        b"GET /image/region?box=%ff%fe&scale=\xff HTTP/1.1\r\nHost: g\r\n\r\n",
        b"GET /image/region?scale=1e999 HTTP/1.1\r\nHost: g\r\n\r\n",
        b"GET /image/region?box=1e308,1e308,-1e308,1e309 HTTP/1.1\r\nHost: g\r\n\r\n",
        b"GET //[::1/ HTTP/1.1\r\nHost: [\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: g\r\n\r\n",
        b"CONNECT :99999999 HTTP/1.1\r\nHost: g\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=lambda data: repr(data[:90]),
)
async def test_no_broken_request_is_a_fault_of_ours(
    enter: Enter, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with enter() as inside:
        await asyncio.to_thread(raw, inside.client.path, data, wait=0.5)
        await unhurt(inside)
    loud = [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert loud == []  # they would stand on the user's terminal


async def test_two_requests_in_one_write_are_two_requests_of_the_same_container(enter: Enter) -> None:
    event = b'{"kind": "log", "message": "%d"}'
    async with enter() as inside:
        both = post("/events", event % 1) + post("/events", event % 2)
        await asyncio.to_thread(raw, inside.client.path, both)
        assert [row["message"] for row in inside.events("log")] == ["1", "2"]


async def test_one_list_is_held_to_the_limit_of_events(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.post("/events", [{"kind": "log", "message": "x"}] * 5001)
        assert refused.value.status == 413
        assert len(inside.events()) <= 1


async def test_what_is_refused_does_not_fill_the_trace(enter: Enter) -> None:
    """Forged kinds and web requests are logged, but not for ever."""
    async with enter() as inside:
        forged = post("/events", b'{"kind": "egress"}') * 3000
        web = b"GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n" * 3000
        await asyncio.to_thread(raw, inside.client.path, forged, wait=20)
        await asyncio.to_thread(raw, inside.client.path, web, wait=20)
        await inside.post("/events", {"kind": "answer", "text": "still heard"})
        rows = inside.events()
    assert len(rows) < 500
    assert rows[-1]["text"] == "still heard"


async def test_a_body_over_the_limit_is_refused_in_bounded_memory(enter: Enter) -> None:
    async with enter() as inside:
        before = resident()
        chunk = b"100000\r\n" + bytes(2**20) + b"\r\n"
        head = b"PUT /blobs HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n"
        reply = await asyncio.to_thread(raw, inside.client.path, head + chunk * 300, wait=20)
        await unhurt(inside)
    assert b" 413 " in reply or reply == b""
    assert resident() - before < 700 * 2**20  # 300 MB of it is this test's own copy


async def test_a_compressed_bomb_is_refused(enter: Enter) -> None:
    async with enter() as inside:
        before = resident()
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        bomb = b"".join(packer.compress(bytes(2**24)) for _ in range(64)) + packer.flush()  # 1 GB
        data = post("/blobs", bomb, "Content-Encoding: gzip", method="PUT")
        reply = await asyncio.to_thread(raw, inside.client.path, data, wait=20)
        await unhurt(inside)
    assert b" 413 " in reply
    assert resident() - before < 300 * 2**20


@pytest.mark.parametrize("filler", [b"[],", b"{},", b"1,", b'"",'], ids=repr)
async def test_json_made_of_many_small_things_is_refused_before_it_is_parsed(
    enter: Enter, filler: bytes
) -> None:
    """48 MB of `[],` become gigabytes of objects."""
    body = b'{"messages": [' + filler * (48 * 2**20 // len(filler)) + b"1]}"
    async with enter() as inside:
        before = resident()
        began = time.monotonic()
        reply = await asyncio.to_thread(raw, inside.client.path, post("/v1/chat/completions", body), wait=30)
        assert b" 413 " in reply
        assert time.monotonic() - began < 3
        assert resident() - before < 400 * 2**20
        await unhurt(inside)


async def test_connections_over_the_limit_are_closed_and_the_others_still_served(enter: Enter) -> None:
    async with enter() as inside:
        held = []
        for _ in range(1000):
            connection = socket.socket(socket.AF_UNIX)
            connection.setblocking(False)
            try:
                connection.connect(inside.client.path)
                connection.send(b"GET /lifeline HTTP/1.1\r\nHost: g\r\nX-Slow: ")  # never finished
            except OSError:
                pass
            held.append(connection)
            if len(held) % 50 == 0:
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        served = inside.door.connections()
        for connection in held:
            connection.close()
        await asyncio.sleep(0.3)
        await unhurt(inside)
    assert served <= door.MAX_CONNECTIONS


async def test_many_pictures_in_one_request_cost_linear_time(enter: Enter) -> None:
    """Ten thousand pictures in another JSON spelling than ours: one pass, not one for each picture."""
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + _b64(n)}} for n in range(4000)
    ]
    body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": parts}]}, indent=1)
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            began = time.monotonic()
            reply = await asyncio.to_thread(
                raw, inside.client.path, post("/v1/chat/completions", body.encode()), wait=60
            )
            assert time.monotonic() - began < 10
            await unhurt(inside)
    assert b" 200 " in reply or b" 413 " in reply


async def test_an_image_bomb_in_a_request_is_measured_not_decoded(enter: Enter) -> None:
    """A PNG header that claims 60000 x 60000 pixels, and one that cannot be read at all."""
    import struct

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    pictures = [png, b"\x89PNG\r\n\x1a\nbroken", b"GIF89a", b"RIFF\xff\xff\xff\xffWEBPVP8X"]
    content = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(p).decode()}"}}
        for p in pictures
    ]
    body = {"model": "scripted", "messages": [{"role": "user", "content": content}]}
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            before = resident()
            await inside.ask("POST", "/v1/chat/completions", body)
            assert resident() - before < 50 * 2**20
            [request] = inside.events("model_request")
            await unhurt(inside)
    assert len(request["pictures"]) == 4


async def test_all_that_is_stored_for_an_episode_is_counted(enter: Enter, monkeypatch: Any) -> None:
    """Blobs, cuts and model requests share one allowance; the same bytes again cost nothing."""
    from fieldmark.sandbox.gateway import keeper

    monkeypatch.setattr(keeper, "MAX_STORED_BYTES", 300_000)
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await inside.ask("GET", "/image/region?scale=4&type=image/jpeg")
            for _ in range(50):
                await inside.ask("GET", "/image/region?scale=4&type=image/jpeg")
            for method, route, body in (
                ("GET", "/image/region?box={n},0,{n}0,200&scale=8", lambda _: None),
                ("POST", "/v1/chat/completions", lambda n: ask(f"{n}" * 60_000)),
                ("PUT", "/blobs", lambda n: f"{n}".encode() * 60_000),
            ):
                assert await until_refused(inside, method, route, body) == 413
            await unhurt(inside)


async def test_a_request_of_very_many_messages_is_refused_before_it_makes_as_many_files(enter: Enter) -> None:
    messages = [{"role": "user", "content": str(n)} for n in range(100_000)]
    async with enter() as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.ask("POST", "/v1/chat/completions", {"model": "x", "messages": messages})
        assert refused.value.status == 413
        assert len(list(inside.blobs.folder.iterdir())) < 100
        await unhurt(inside)


async def test_settings_of_a_request_are_kept_small_in_the_trace(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.ask("POST", "/v1/chat/completions", {**ask("x"), "user": "y" * 10**6})
        assert refused.value.status == 413
        assert inside.trace.stat().st_size < 100_000
        await unhurt(inside)


async def test_another_container_is_served_while_one_floods_the_look_ups(enter: Enter) -> None:
    async with enter() as inside:
        region = b"GET /image/region?scale=12&type=image/png HTTP/1.1\r\nHost: g\r\n\r\n"
        await inside.ask("GET", "/image/region?box=0,0,9,9")  # the worker process has started
        for _ in range(40):
            threading.Thread(target=raw, args=(inside.client.path, region), daemon=True).start()
        await asyncio.sleep(0.5)
        other = await inside.neighbour()
        began = time.monotonic()
        await asyncio.to_thread(other.get, "/image/region?box=0,0,9,9")
        waited = time.monotonic() - began
    assert waited < 3  # a cut of the flood takes about a second


async def until_refused(inside: Inside, method: str, route: str, body: Any) -> int:
    """The status that ends a series of ever new requests."""
    for n in range(1, 30):
        try:
            await inside.ask(method, route.replace("{n}", str(n)), body(n))
        except GatewayRefused as refused:
            return refused.status
    return 200


def ask(text: str) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": text}]}


def _b64(n: int) -> str:
    return base64.b64encode(f"picture {n}".encode() * 20).decode()


def resident() -> int:
    """Bytes of this process that are in memory now."""
    from pathlib import Path

    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def unhurt(inside: Inside) -> None:
    """The door still answers, and the episode has not been broken through a fault of ours."""
    health = GatewayClient(inside.client.path)
    assert (await asyncio.to_thread(health.get, "/health", timeout=10)).json() == {"ok": True}
    if inside.session.ended.done():
        assert inside.session.ended.result().status != "sandbox_error"
