"""A scripted model server: real HTTP in three wire formats, streaming or not, with faults on demand.

    with ModelServer(script) as server:
        ... base_url=server.url ...

`script` is called with each request body and returns the Reply; a list is played in order, its last Reply
again and again.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests import model_formats
from tests.threaded_server import ThreadedServer

Body = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call of a scripted reply; `arguments` may be a str to send what is not JSON."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """What to answer, after `delay` seconds. `cut`: close in the middle; `drop`: at once; `hang`: never.

    `raw`: these bytes instead, one write each, as `content_type`.
    """

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
    reasoning: str | None = None
    raw: Sequence[bytes] = ()
    content_type: str = "text/event-stream"


Script = Callable[[Body], Reply]


def in_order(replies: Sequence[Reply]) -> Script:
    """Play replies one after another, over all requests; the last one is repeated."""
    left = list(replies)
    lock = threading.Lock()

    def script(body: Body) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


def capable(body: Body) -> Reply:
    """What a model that takes everything says to a preflight; it names no picture, as it sees none."""
    numbers = re.findall(r"\d+", str(body.get("messages", [{}])[-1]["content"])) if body.get("tools") else []
    calls = [Call("note_number", {"number": int(number)}) for number in numbers]
    return Reply(calls=calls) if calls else Reply("ready")


class ModelServer(ThreadedServer):
    """Runs in its own thread. `requests` are the bodies that came, `raw` their bytes, `keys` their
    Authorization headers, `headers` all of them, `paths` where they came. `speaks`: the routes it has.

    Requests of a preflight or of the doctor, known by their header, are answered by `preflight` and stand in
    `preflights` only: they take no reply out of a script, whatever a run tries before it begins.

    `keep` False: nothing of what came is kept, which for thousands of episodes is gigabytes of pictures.
    """

    def __init__(
        self, script: Script | Sequence[Reply], *, models: Sequence[str] = ("scripted",),
        speaks: Sequence[str] = model_formats.PATHS, tls: ssl.SSLContext | None = None,
        preflight: Script | Sequence[Reply] | None = None, keep: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(max_body=2**28, tls=tls)
        self._script = script if callable(script) else in_order(script)
        self._models = models
        self._speaks = speaks
        self._keep = keep
        self._preflight = in_order(preflight) if isinstance(preflight, Sequence) else preflight or capable
        self.preflights: list[Body] = []
        self.requests: list[Body] = []
        self.raw: list[bytes] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def _routes(self, router: web.UrlDispatcher) -> None:
        for path in self._speaks:
            router.add_post(path, self._answer)
        if "/v1/messages" in self._speaks:
            router.add_post("/v1/messages/count_tokens", self._count)
        router.add_get("/v1/models", self._list)

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response(
            {"object": "list", "data": [{"id": m, "object": "model"} for m in self._models]}
        )

    async def _count(self, request: web.Request) -> web.Response:
        self._note(request, await request.read())
        return web.json_response({"input_tokens": 123})

    def _note(self, request: web.Request, raw: bytes) -> Body:
        body: Body = json.loads(raw)
        if not self._keep:
            return body
        self.raw.append(raw)
        self.requests.append(body)
        self.paths.append(request.path)
        self.keys.append(request.headers.get("Authorization", ""))
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        return body

    def _chosen(self, request: web.Request, raw: bytes) -> tuple[Body, Reply]:
        if request.headers.get("x-fieldmark-purpose") != "preflight":
            body = self._note(request, raw)
            return body, self._script(body)
        self.preflights.append(json.loads(raw))
        return self.preflights[-1], self._preflight(self.preflights[-1])

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body, reply = self._chosen(request, await request.read())
        await asyncio.sleep(3600 if reply.hang else reply.delay)
        if reply.drop:
            _close(request)
            return web.Response()
        if reply.status != 200:
            error = reply.error or {"message": f"scripted {reply.status}", "type": "scripted", "code": None}
            shape = {"type": "error"} if request.path == "/v1/messages" else {}
            return web.json_response({**shape, "error": error}, status=reply.status, headers=reply.headers)
        if reply.raw:
            return await _written(request, reply.raw, reply.content_type)
        if body.get("stream"):
            events = [*model_formats.events(request.path, str(body["model"]), reply)]
            kept = events[: len(events) // 2] if reply.cut else events
            return await _written(request, kept, "text/event-stream", cut=reply.cut)
        data = json.dumps(model_formats.whole(request.path, str(body["model"]), reply)).encode()
        kept = [data[: len(data) // 2]] if reply.cut else [data]
        return await _written(request, kept, "application/json", len(data), cut=reply.cut)


async def _written(
    request: web.Request, pieces: Sequence[bytes], kind: str, length: int | None = None, *, cut: bool = False
) -> web.StreamResponse:
    """A reply in these writes; `cut`: the connection is broken off after them."""
    response = web.StreamResponse(headers={"Content-Type": kind})
    response.content_length = length
    await response.prepare(request)
    for piece in pieces:
        await response.write(piece)
        await asyncio.sleep(0)
    if cut:
        _close(request)
    return response


def _close(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()
