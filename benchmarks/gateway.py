"""What the gateway adds to a model call: the same calls directly and through it, in turns, in one run.

Server, gateway and client are processes of their own, as in a run. The server answers after 20 ms; a streamed
reply is 40 events 10 ms apart. A request has a picture of 200 kB, 20 tools and ten messages. Read the ratios
and differences of one sitting, not the times: they move with the machine.

    make bench    or    .venv/bin/python -m benchmarks.gateway --calls 200 --streams 64
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from rich.console import Console
from rich.table import Table

from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.task import Limits
from tests.sandbox.gateway.conftest import entered

ROUTE = "/v1/chat/completions"
THINKING, EVENTS, GAP = 0.02, 40, 0.01  # seconds before a reply, events of a stream, seconds between them
ROUNDS = 3
UNLIMITED = Limits(seconds=3600, model_calls=0, same_requests=0)


@dataclass(frozen=True)
class Seen:
    """Seconds: of each call to its first byte and to its end, and of all of them together."""

    first: list[float]
    whole: list[float]
    span: float


# --- the server -----------------------------------------------------------------------------------


async def _serve() -> None:
    app = web.Application(client_max_size=2**28)
    app.router.add_post(ROUTE, _reply)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def _reply(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    await asyncio.sleep(THINKING)
    usage = {"prompt_tokens": 1000, "completion_tokens": EVENTS}
    if b'"stream":true' not in body:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a husky"}}
        return web.json_response(
            {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}
        )
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for n in range(EVENTS):
        choice = {"index": 0, "delta": {"content": f"word{n} "}}
        await response.write(f"data: {json.dumps({'id': 'x', 'choices': [choice]})}\n\n".encode())
        await asyncio.sleep(GAP)
    await response.write(f"data: {json.dumps({'id': 'x', 'choices': [], 'usage': usage})}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


# --- the client -----------------------------------------------------------------------------------


async def _ask(place: str, calls: int, at_once: int, stream: bool) -> Seen:
    """`place` is an origin or the path of a unix socket."""
    direct = place.startswith("http")
    connector = aiohttp.TCPConnector(limit=0) if direct else aiohttp.UnixConnector(place, limit=0)
    url = f"{place if direct else 'http://gateway'}{ROUTE}"
    first, whole = [], []
    numbers = iter(range(calls))

    async def one_after_another(client: aiohttp.ClientSession) -> None:
        for n in numbers:
            data = _request(n, stream)
            began = time.perf_counter()
            async with client.post(url, data=data, headers={"Content-Type": "application/json"}) as reply:
                assert reply.status == 200, await reply.text()
                await reply.content.readany()
                first.append(time.perf_counter() - began)
                await reply.read()
            whole.append(time.perf_counter() - began)

    async with aiohttp.ClientSession(connector=connector) as client:
        began = time.perf_counter()
        await asyncio.gather(*(one_after_another(client) for _ in range(at_once)))
        return Seen(first, whole, time.perf_counter() - began)


_PICTURE = base64.b64encode(os.urandom(150_000)).decode()


def _request(n: int, stream: bool) -> bytes:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{_PICTURE}"}}
    asked = {"role": "user", "content": [{"type": "text", "text": "Which aircraft is this?"}, picture]}
    history = [{"role": "user", "content": f"Remark {turn}: " + "look closer. " * 40} for turn in range(9)]
    parameters = {"type": "object", "properties": {"query": {"type": "string", "description": "word " * 50}}}
    tools = [
        {"type": "function", "function": {"name": f"tool_{n}", "parameters": parameters}} for n in range(20)
    ]
    last = {"role": "user", "content": f"Call {n}."}
    body = {"model": "scripted", "messages": [asked, *history, last], "tools": tools, "stream": stream}
    return json.dumps(body, separators=(",", ":")).encode()


# --- the comparison -------------------------------------------------------------------------------


async def _measure(calls: int, streams: int) -> dict[str, tuple[list[Seen], list[Seen]]]:
    """Kind of call → what was seen directly, and through the gateway, a round each."""
    seen: dict[str, tuple[list[Seen], list[Seen]]] = {
        "one at a time": ([], []),
        f"{streams} streams": ([], []),
    }
    with tempfile.TemporaryDirectory() as folder:
        async with _server() as origin, _gateway(Path(folder), origin) as socket:
            for _ in range(ROUNDS):
                for place, kept in ((origin, 0), (socket, 1)):
                    seen["one at a time"][kept].append(await _client(place, calls, 1, False))
                    seen[f"{streams} streams"][kept].append(await _client(place, 4 * streams, streams, True))
    return seen


@asynccontextmanager
async def _gateway(folder: Path, origin: str) -> AsyncIterator[str]:
    """The socket of a container; the gateway is this process."""
    async with entered(folder, HttpUpstream("scripted", f"{origin}/v1"), UNLIMITED) as inside:
        yield str(inside.door.folder / "gateway.sock")


@asynccontextmanager
async def _server() -> AsyncIterator[str]:
    command = [sys.executable, "-m", "benchmarks.gateway", "serve"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout
    port = int(await process.stdout.readline())
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def _client(place: str, calls: int, at_once: int, stream: bool) -> Seen:
    command = [
        sys.executable,
        "-m",
        "benchmarks.gateway",
        "ask",
        place,
        str(calls),
        str(at_once),
        str(stream),
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0
    return Seen(**json.loads(out))


def _rows(kind: str, direct: list[Seen], through: list[Seen]) -> list[list[str]]:
    rows = []
    for name, seen in (("direct", direct), ("gateway", through)):
        first = [value for one in seen for value in one.first]
        whole = [value for one in seen for value in one.whole]
        rate = sum(len(one.whole) for one in seen) / sum(one.span for one in seen)
        rows.append([kind, name, *_ms(first), *_ms(whole), f"{rate:.1f}"])
    base = sum(len(one.whole) for one in direct) / sum(one.span for one in direct)
    rows[1].append(f"{float(rows[1][-1]) / base:.2f} x")
    return rows


def _ms(values: list[float]) -> list[str]:
    return [f"{1000 * statistics.median(values):.1f}", f"{1000 * statistics.quantiles(values, n=20)[-1]:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=100, help="one at a time, in each of the rounds")
    parser.add_argument("--streams", type=int, default=64, help="at once")
    options = parser.parse_args()
    table = Table("calls", "", "first byte ms", "p95", "whole ms", "p95", "calls / s", "of direct")
    for kind, (direct, through) in asyncio.run(_measure(options.calls, options.streams)).items():
        for row in _rows(kind, direct, through):
            table.add_row(*row)
    Console(width=110).print(table)


def _as_child(role: str, *words: str) -> None:
    if role == "serve":
        asyncio.run(_serve())
        return
    place, calls, at_once, stream = words
    seen: Any = asyncio.run(_ask(place, int(calls), int(at_once), stream == "True"))
    print(json.dumps(seen.__dict__))


if __name__ == "__main__":
    if sys.argv[1:2] in (["serve"], ["ask"]):
        _as_child(*sys.argv[1:])
    else:
        main()
