"""A real HTTP server in a thread of its own, for tests that stand in for what cannot be had here."""

from __future__ import annotations

import asyncio
import ssl
import threading
from typing import Self

from aiohttp import web


class ThreadedServer:
    """`with Server(…) as server:`; a subclass adds its routes in `_routes`. Hanging answers end with it."""

    def __init__(self, *, max_body: int = 2**24, tls: ssl.SSLContext | None = None) -> None:
        self.port = 0  # any free one; set before the start for one that a server had before
        self._max_body = max_body
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _routes(self, router: web.UrlDispatcher) -> None:
        raise NotImplementedError

    @property
    def origin(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(10)
        return self

    def __exit__(self, *args: object) -> None:
        """Stop; a test may do so before its `with` ends."""
        if self._loop.is_closed():
            return
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
        app = web.Application(client_max_size=self._max_body)
        self._routes(app.router)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._tls).start()
        self.port = self._runner.addresses[0][1]

    async def _close(self) -> None:
        hanging = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
        await self._runner.cleanup()
