"""A door: the unix socket of one container, and which session stands behind it.

Identity is the socket: whatever comes through is this container's, whatever it says of itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from fieldmark.sandbox.gateway import bodies, events, eyes, game, lookups, memory, models, pictures, states
from fieldmark.sandbox.gateway.replies import Refused, gone, refusal
from fieldmark.sandbox.gateway.session import Session, host_or_gateway_fault
from fieldmark.sandbox.gateway.web import routes as web_routes
from fieldmark.sandbox.gateway.web.browser import BrowserDoor

POLL_SECONDS = 20.0
MAX_CONNECTIONS = 128
"""Of one container at once; the host's descriptors are shared by all."""
Handler = Callable[[Session, web.BaseRequest], Awaitable[web.StreamResponse]]

ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", "/image"): pictures.view,
    ("GET", "/image/region"): pictures.region,
    ("GET", "/turn"): game.now,
    ("POST", "/turn"): game.say,
    ("GET", "/turn/picture"): game.picture,
    ("POST", "/events"): events.post_events,
    ("PUT", "/blobs"): events.put_blob,
    ("POST", "/done"): events.done,
    ("POST", "/v1/chat/completions"): models.call,
    ("POST", "/v1/responses"): models.call,
    ("POST", "/v1/messages"): models.call,
    ("POST", "/v1/messages/count_tokens"): models.count_tokens,
    ("GET", "/v1/models"): models.list_models,
    ("POST", "/lookup/reverse-image"): lookups.reverse_image,
    ("POST", "/lookup/web-search"): lookups.web_search,
    ("POST", "/lookup/aircraft"): lookups.aircraft,
    ("POST", "/lookup/classify"): lookups.classify,
    ("GET", "/lookup/picture"): lookups.found_picture,
    ("POST", "/eyes"): eyes.ask,
    ("POST", "/memory/recall"): memory.recall,
    ("POST", "/memory/remember"): memory.remember,
    ("GET", "/memory/state"): states.begin,
    ("PUT", "/memory/state"): states.leave,
    ("GET", "/skills/read"): lookups.skill,
    ("GET", "/skills/files"): lookups.skill_files,
    ("GET", "/last-reply"): models.last_reply,
    ("POST", "/fetch"): web_routes.fetch,
}


SOCKET = "gateway.sock"


class Door:
    """`ready` is set when the worker asks for its first episode; a door serves one session, once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ready = asyncio.Event()
        self._session: Session | None = None
        self._arrived = asyncio.Event()
        self._closed = asyncio.Event()
        self._web = http_server(self._handle)
        self._browser = BrowserDoor(lambda: self._session, http_server)
        self._listener: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen. The socket is open to any user: the folder above it (0700) keeps other users out."""
        self.folder.mkdir(mode=0o755)
        self.folder.chmod(0o755)
        path = self.folder / SOCKET
        self._listener = await asyncio.get_running_loop().create_unix_server(self._web, path)
        path.chmod(0o666)
        await self._browser.open(self.folder)

    def admit(self, session: Session) -> None:
        """Give the waiting worker its episode."""
        self._session = session
        self._arrived.set()

    async def close(self) -> None:
        """Nothing answers here any more; the socket is gone."""
        self._closed.set()
        if self._listener:
            self._listener.close()
        await self._web.shutdown(timeout=1.0)
        await self._browser.close()
        (self.folder / SOCKET).unlink(missing_ok=True)
        if self.folder.exists():
            self.folder.rmdir()

    def stands(self) -> bool:
        """Whether the socket is still there: from inside it cannot be taken away."""
        return (self.folder / SOCKET).is_socket()

    def connections(self) -> int:
        """How many connections are open."""
        return len(self._web.connections)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "CONNECT" or not request.raw_path.startswith("/"):
            return self._deny_web(request)
        if request.path == "/health":
            return web.json_response({"ok": True})
        if (request.method, request.path) == ("GET", "/episode"):
            return await self._next_episode()
        if (request.method, request.path) == ("GET", "/lifeline"):
            await self._closed.wait()
            return gone()
        return await self._serve(request)

    async def _next_episode(self) -> web.StreamResponse:
        self.ready.set()
        try:
            await asyncio.wait_for(self._arrived.wait(), POLL_SECONDS)
        except TimeoutError:
            return web.Response(status=204)
        if self._session is None or self._session.ended.done():
            return gone()
        return web.json_response(text=self._session.prompt.model_dump_json())

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        handler = _handler(request)
        if handler is None:
            return refusal(404, "not_found", f"no route {request.method} {request.path}", request.path)
        session = self._session
        if session is None:
            return refusal(409, "idle", "no episode has begun")
        if session.ended.done():
            return gone(request.path)
        try:
            reply = await handler(session, request)
            session.citable.served(request.path)
            return reply
        except Refused as refused:
            if refused.status == 413:
                session.note_over_limit(str(refused))
            return refused.reply(request.path)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:
            session.fail(host_or_gateway_fault(error))
            return gone(request.path)
        finally:
            bodies.release(session, request)

    def _deny_web(self, request: web.BaseRequest) -> web.Response:
        session, why = self._session, web_routes.NO_WEB
        if session is not None and session.web is not None:
            why = f'use: fieldmark tool open_page --json \'{{"url": "{request.raw_path[:300]}"}}\''
        if session is not None and not session.ended.done():
            session.note_denied(request.method, request.raw_path[:500], why[:120])
        return refusal(403, "denied", why)


def _handler(request: web.BaseRequest) -> Handler | None:
    if request.method == "GET" and request.path.startswith("/v1/models/"):  # a model's name may hold slashes
        return models.one_model
    return ROUTES.get((request.method, request.path))


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=0)


def http_server(handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> web.Server:
    """What every socket of a container is served by."""
    return _Server(handler, request_factory=_request, access_log=None, logger=_silence())


def _silence() -> logging.Logger:
    """aiohttp logs every broken request; a sandbox could flood the user's terminal with them."""
    logger = logging.getLogger("fieldmark.gateway.http")
    logger.disabled = True
    return logger


class _Server(web.Server):
    """An HTTP server that takes MAX_CONNECTIONS at once and breaks off any more."""

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
