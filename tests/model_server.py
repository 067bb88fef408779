"""A scripted OpenAI-compatible model server: real HTTP, streaming or not, with faults on demand.

    with ModelServer(script) as server:
        ... base_url=server.url ...

`script` is called with each request body and returns the Reply; a list is played in order, its last Reply
again and again.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Body = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call of a scripted reply; `arguments` may be a str to send what is not JSON."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """What to answer, after `delay` seconds. `cut`: close in the middle; `drop`: at once; `hang`: never."""

    text: str | None = None
    calls: Sequence[Call] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    delay: float = 0.0
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10}
    )
    finish: str | None = None
    cut: bool = False
    hang: bool = False
    drop: bool = False


Script = Callable[[Body], Reply]


def in_order(replies: Sequence[Reply]) -> Script:
    """Play replies one after another, over all requests; the last one is repeated."""
    left = list(replies)
    lock = threading.Lock()

    def script(body: Body) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


class ModelServer:
    """Runs in its own thread. `requests` are the bodies that came, `keys` their Authorization headers."""

    def __init__(self, script: Script | Sequence[Reply], *, models: Sequence[str] = ("scripted",)) -> None:
        self._script = script if callable(script) else in_order(script)
        self._models = models
        self.requests: list[Body] = []
        self.keys: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        assert self._started.wait(10)
        return self

    def __exit__(self, *args: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _listen(self) -> None:
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _close(self) -> None:
        hanging = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
        await self._runner.cleanup()

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response(
            {"object": "list", "data": [{"id": m, "object": "model"} for m in self._models]}
        )

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("Authorization", ""))
        reply = self._script(body)
        await asyncio.sleep(3600 if reply.hang else reply.delay)
        if reply.drop:
            _close(request)
            return web.Response()
        if reply.status != 200:
            error = reply.error or {"message": f"scripted {reply.status}", "type": "scripted", "code": None}
            return web.json_response({"error": error}, status=reply.status, headers=reply.headers)
        if body.get("stream"):
            return await self._stream(request, body, reply)
        return await self._whole(request, body, reply)

    async def _whole(self, request: web.Request, body: Body, reply: Reply) -> web.StreamResponse:
        choice = {"index": 0, "message": _message(reply), "finish_reason": _finish(reply)}
        whole = {"id": "x", "object": "chat.completion", "model": body["model"], "choices": [choice]}
        if reply.usage is not None:
            whole["usage"] = reply.usage
        data = json.dumps(whole).encode()
        if not reply.cut:
            return web.Response(body=data, content_type="application/json")
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Content-Length": str(len(data))}
        )
        await response.prepare(request)
        await response.write(data[: len(data) // 2])
        _close(request)
        return response

    async def _stream(self, request: web.Request, body: Body, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        events = list(_events(body, reply))
        for event in events[: len(events) // 2] if reply.cut else events:
            await response.write(f"data: {event}\n\n".encode())
        if reply.cut:
            _close(request)
            return response
        await response.write(b"data: [DONE]\n\n")
        return response


def _close(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _message(reply: Reply) -> Body:
    message: Body = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": c.id or f"c{i}",
                "type": "function",
                "function": {"name": c.name, "arguments": _arguments(c)},
            }
            for i, c in enumerate(reply.calls)
        ]
    return message


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _events(body: Body, reply: Reply) -> list[str]:
    """Text word by word, then each call in two halves, the finish, the usage."""
    deltas: list[Body] = [{"role": "assistant"}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*|\s+", reply.text or "")]
    for i, call in enumerate(reply.calls):
        text = _arguments(call)
        middle = len(text) // 2
        head = {"name": call.name, "arguments": text[:middle]}
        deltas.append(
            {"tool_calls": [{"index": i, "id": call.id or f"c{i}", "type": "function", "function": head}]}
        )
        deltas.append({"tool_calls": [{"index": i, "function": {"arguments": text[middle:]}}]})
    events: list[Body] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]})
    if reply.usage is not None:
        events.append({"choices": [], "usage": reply.usage})
    return [
        json.dumps({"id": "x", "object": "chat.completion.chunk", "model": body["model"], **e})
        for e in events
    ]
