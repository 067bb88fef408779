"""The browser's process: `python -m fieldmark.tools.browsing.process DOOR`, one for each container.

Started by the first call that needs it (client.py), it listens on a unix socket and does one action at a
time, whatever door the calls come through. DOOR is the socket of the gateway's web proxy for browsers.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from pathlib import Path

from fieldmark.errors import ToolError
from fieldmark.relay import listen
from fieldmark.tools.browsing.chromium import Chromium
from fieldmark.tools.browsing.client import SOCKET
from fieldmark.tools.browsing.wire import Answer, Fault

_LINE = 1_000_000  # bytes of a request


async def serve(door: str, path: Path) -> None:
    """Serve until the browser is beyond help; then the next call starts this process anew."""
    again = path.exists()
    relay = await listen(door)
    chromium = Chromium(relay.sockets[0].getsockname()[1])
    if again:
        chromium.note("the browser had ended and was started again with an empty page")
    turn = asyncio.Lock()
    over = asyncio.Event()

    async def handle(reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(OSError, ValueError, asyncio.IncompleteReadError):
            request = json.loads(await reader.readuntil())
            async with turn:
                answer = await _answer(chromium, request)
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()
        if chromium.beyond_help:
            over.set()

    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(handle, path, limit=_LINE)
    print("ready", flush=True)
    async with server:
        await over.wait()


async def _answer(chromium: Chromium, request: object) -> Answer:
    try:
        return {"reply": await chromium.act(request)}  # type: ignore[arg-type]
    except ToolError as error:
        return {"fault": Fault(kind=error.kind, message=str(error))}
    except Exception as error:  # said to the caller, who would else wait for ever
        message = f"the browser failed: {type(error).__name__}"
        return {"fault": Fault(kind="runtime", message=message)}


def _go_first() -> None:
    """When memory runs out, this process and its browser are killed before the worker."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("300")


if __name__ == "__main__":
    _go_first()
    asyncio.run(serve(sys.argv[1], SOCKET))
    os._exit(0)  # Playwright's own clean-up may be what hangs
