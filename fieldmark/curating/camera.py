"""Pictures of web pages, by the real browser of one sandbox container that has no network but our door."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from fieldmark.errors import EpisodeFault, FieldmarkError, UsageError
from fieldmark.needs import Needs
from fieldmark.preflight import BROWSER_MB
from fieldmark.sandbox import container as spec
from fieldmark.sandbox import engine, image, reaper
from fieldmark.sandbox.gateway.door import http_server
from fieldmark.sandbox.gateway.sockets import Sockets
from fieldmark.sandbox.gateway.web.alone import Nobody
from fieldmark.sandbox.gateway.web.browser import SOCKET, BrowserDoor
from fieldmark.sandbox.gateway.web.door import Ledger, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Exchange

LIFETIME = 24 * 3600.0
"""Seconds; the last resort, should whoever started the container be gone."""
CLOSE_SECONDS = 10.0
_SHOOT = f"""
import json, sys
from pathlib import Path
from fieldmark.errors import ToolError
from fieldmark.tools.browsing.client import browse
try:
    seen = browse({{"action": "open", "url": sys.argv[1]}}, Path("{spec.SOCKET_FOLDER}/{SOCKET}"))
    print(json.dumps({{"picture": seen.get("picture"), "notes": seen["notes"]}}))
except ToolError as error:
    print(json.dumps({{"fault": str(error)}}))
"""
"""Run inside: what the tool `browser` does, without its words."""


class NoPicture(FieldmarkError):
    """Why there is none of a page."""


class Camera:
    """Started with the first picture; a context that removes its container. `door`: the web that pages load
    their parts from. One browser sees all pages, one after another.
    """

    def __init__(self, door: WebDoor, say: Callable[[str], None]) -> None:
        self._web = _Held(door)
        self._say = say
        self._open: _Open | None = None
        self._why = ""

    def __enter__(self) -> Camera:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            self._open.close()

    def shoot(self, page: Exchange) -> bytes:
        """A JPEG of the first screen of a page that was fetched, 1280 px wide; its own bytes are not asked
        for again. NoPicture.
        """
        if self._why:
            raise NoPicture(self._why)
        try:
            self._open = self._open or _Open(self._web)
        except UsageError as error:
            self._why = str(error)
            self._say(f"no screenshots are taken: {error}")
            raise NoPicture(self._why) from None
        self._web.page = page
        told = self._open.run([spec.PYTHON, "-c", _SHOOT, page.url])
        if not told.get("picture"):
            why = told.get("fault") or "; ".join(told.get("notes", [])) or "the browser shows no page"
            raise NoPicture(str(why)[:300])
        return base64.b64decode(str(told["picture"]))


class _Held(WebDoor):
    """The web as another door has it, but `page` as it was fetched: picture and text are of one body."""

    def __init__(self, door: WebDoor) -> None:
        super().__init__(door.mode, door.policy, site=door.site, archive=door.archive)
        self.page: Exchange | None = None

    async def exchange(
        self, session: Ledger, method: str, url: str, headers: Mapping[str, str] | None = None
    ) -> Exchange:
        if self.page and method == "GET" and self.policy.check(url).url == self.page.url:
            return self.page
        return await super().exchange(session, method, url, headers)


class _Visitor(Nobody):
    """Whose requests the browser makes; nothing is recorded of them but what the web's archive keeps."""

    def __init__(self, web: WebDoor) -> None:
        super().__init__()
        self.web: WebDoor | None = web
        self.ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def work(self, job: Coroutine[Any, Any, Any]) -> Any:
        return await job

    def fail(self, fault: EpisodeFault) -> None:
        """The page then lacks what could not be had, and its picture shows it."""


class _Open:
    """A container that runs, and the loop of its door. UsageError: no engine answers, or it has no image."""

    def __init__(self, web: WebDoor) -> None:
        self._client = engine.connect()
        image_id = image.require(self._client)
        reaper.reap(self._client)
        self._web = web
        self._visitor: _Visitor | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._sockets = Sockets()
        self._door: BrowserDoor | None = None
        self._container = ""
        try:
            self._on_loop(self._listen())
            self._container = self._start(image_id)
        except Exception as error:
            self.close()
            told = " ".join(str(getattr(error, "explanation", None) or error).split())[:300]
            raise UsageError(f"the browser's container could not be started: {told}") from None

    def run(self, command: list[str]) -> dict[str, Any]:
        """What a command inside prints, as JSON. NoPicture: the container is gone, or it printed nothing."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        if self._visitor:
            self._visitor.counts.clear()
        try:
            made = self._client.api.exec_create(self._container, command, stderr=False)
            told = json.loads(self._client.api.exec_start(made["Id"]))
        except (DockerException, RequestException, ValueError) as error:
            raise NoPicture(" ".join(f"the browser failed: {error}".split())[:300]) from None
        return told if isinstance(told, dict) else {}

    def close(self) -> None:
        """The container is removed, nothing listens any more."""
        with suppress(Exception):  # else the reaper removes it
            if self._container:
                reaper.remove(self._client, self._container)
        with suppress(Exception):
            if self._door:
                self._on_loop(self._door.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)
        self._sockets.close()
        self._client.close()

    def _on_loop(self, job: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(job, self._loop).result(CLOSE_SECONDS)

    async def _listen(self) -> None:
        self._visitor = _Visitor(self._web)
        self._door = BrowserDoor(lambda: self._visitor, http_server)
        folder = self._sockets.folder / "1"
        folder.mkdir(mode=0o755)
        await self._door.open(folder)

    def _start(self, image_id: str) -> str:
        needs = Needs(memory_mb=Needs().memory_mb + BROWSER_MB)
        options = spec.create_options(
            image_id, ["sleep", str(int(LIFETIME))], f"evidence-{secrets.token_hex(3)}", LIFETIME
        )
        host = spec.host_options(self._sockets.folder / "1", needs, {})
        api = self._client.api
        made = api.create_container(host_config=api.create_host_config(**host), **options)
        self._container = str(made["Id"])
        api.start(self._container)
        return self._container
