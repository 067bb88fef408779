"""A container with a browser in it, its gateway, and a site of odd pages behind the gateway's web policy."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from docker.utils.socket import frames_iter

from fieldmark.needs import Needs
from fieldmark.sandbox import container as made
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.sandbox.gateway.web.outward import Outward
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.task import Limits
from tests.sandbox.gateway.conftest import Inside, entered

HOST = "guide.test"
LIFETIME = 600
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)
Handler = Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]


def page(body: str, title: str = "Guide") -> str:
    head = f"<meta charset=utf-8><title>{title}</title>"
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


CALLER = """
import sys
from fieldmark.cli import cli
print("ready", flush=True)
for line in sys.stdin:
    cli.main(["tool", "browser", "--json", line], standalone_mode=False)
    sys.stdout.flush()
"""


class Caller:
    """A Python in the container that makes calls as they come, one JSON line each."""

    def __init__(self, engine: Any, container: str) -> None:
        command = [made.PYTHON, "-c", CALLER]
        made_exec = engine.api.exec_create(container, command, stdin=True)["Id"]
        self._socket = engine.api.exec_start(made_exec, socket=True)
        self._frames = frames_iter(self._socket, tty=False)  # type: ignore[no-untyped-call]
        self._read = b""
        assert self._line() == b"ready"

    def call(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._socket._sock.sendall(json.dumps(arguments).encode() + b"\n")
        row: dict[str, Any] = json.loads(self._line())
        return row

    def _line(self) -> bytes:
        while b"\n" not in self._read:
            self._read += next(self._frames)[1]
        line, _, self._read = self._read.partition(b"\n")
        return line


@dataclass
class BrowserEpisode:
    """`call(action="open", url=…)` is one call in the container, as `fieldmark tool browser` makes it in a
    shell, but without starting Python anew; returns the same line.
    """

    inside: Inside
    engine: Any
    container: str
    caller: Caller
    port: int
    pages: dict[str, str | Handler]

    @property
    def site(self) -> str:
        return f"http://{HOST}:{self.port}"

    def call(self, **arguments: Any) -> dict[str, Any]:
        return self.caller.call(arguments)

    def open(self, path: str, **more: Any) -> dict[str, Any]:
        return self.call(action="open", url=f"{self.site}{path}", **more)

    def shell(self, *command: str) -> tuple[int, str]:
        done = self.engine.containers.get(self.container).exec_run(list(command), demux=True)
        out, errors = done.output
        return done.exit_code, (out or b"").decode() + (
            "" if done.exit_code == 0 else (errors or b"").decode()
        )

    def events(self, kind: str) -> list[dict[str, Any]]:
        return self.inside.events(kind)


@contextmanager
def browser_episode(
    folder: Path, engine: Any, image: str, pages: dict[str, str | Handler], **policy: Any
) -> Iterator[BrowserEpisode]:
    """The gateway and the site run in a thread with an event loop of their own, for as long as this lasts."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)

    around = _gateway_and_site(folder, pages, policy)
    inside, port = run(around.__aenter__())
    container = _start(engine, image, inside)
    try:
        yield BrowserEpisode(inside, engine, container, Caller(engine, container), port, pages)
    finally:
        engine.api.remove_container(container, force=True)
        run(around.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@asynccontextmanager
async def _gateway_and_site(
    folder: Path, pages: dict[str, str | Handler], policy: dict[str, Any]
) -> AsyncIterator[tuple[Inside, int]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        found = pages.get(request.path)
        if found is None:
            return web.Response(status=404, text="no such page")
        return (
            web.Response(text=found, content_type="text/html")
            if isinstance(found, str)
            else await found(request)
        )

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    rules = Policy(allow_local=frozenset({f"{HOST}:{port}"}), **policy)
    door = WebDoor("live", rules, outward=Outward(rules, resolve=resolve))
    async with entered(folder, limits=Limits(seconds=LIFETIME), web=door) as inside:
        yield inside, port
    await runner.cleanup()


def _start(engine: Any, image: str, inside: Inside) -> str:
    """A container as episodes have it, with a prompt in its workspace and nothing running."""
    options = made.create_options(image, ["sleep", str(LIFETIME)], "test-browser", LIFETIME + 60)
    host = engine.api.create_host_config(**made.host_options(inside.door.folder, Needs(), {}))
    container = engine.api.create_container(**options, host_config=host)["Id"]
    engine.api.start(container)
    prompt = inside.session.prompt.model_copy(update={"tools": ["browser"]})
    code = "import sys, pathlib; pathlib.Path('/workspace/.prompt.json').write_text(sys.argv[1])"
    done = engine.containers.get(container).exec_run([made.PYTHON, "-c", code, prompt.model_dump_json()])
    assert done.exit_code == 0, done.output
    return str(container)
