"""The browser's own door: an HTTP proxy on a second socket of the container, `browser.sock`.

What comes as a proxy request through `gateway.sock` (and so through the relay that programs are pointed at)
is refused with the advice to use `open_page`, so that acts are counted; the browser tool is pointed here.
That is a signpost and no wall: a program that goes out of its way to use this socket gets the same policy,
the same record and the same events as the browser, and nothing else.

TLS is ended here: CONNECT is answered with 200 and the requests inside are served like any other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web

from fieldmark.errors import EpisodeFault
from fieldmark.sandbox.gateway.replies import gone, refusal
from fieldmark.sandbox.gateway.session import host_or_gateway_fault
from fieldmark.sandbox.gateway.web.door import Ledger, Missed, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Exchange, Unreachable
from fieldmark.sandbox.gateway.web.policy import Denied
from fieldmark.sandbox.gateway.web.routes import NO_WEB

SOCKET = "browser.sock"
METHODS = ("GET", "HEAD")
REFUSAL = "X-Fieldmark-Refusal"
HANDSHAKE_SECONDS = 10.0
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Visitor(Ledger, Protocol):
    """Whose browser it is: a Session, or who takes a picture of a page."""

    ended: asyncio.Future[Any]

    @property
    def web(self) -> WebDoor | None: ...

    async def work(self, job: Coroutine[Any, Any, Any]) -> Any: ...

    def fail(self, fault: EpisodeFault) -> None: ...


class BrowserDoor:
    """Serves the proxy requests of one container for the session that `session` gives; `serve` makes an
    HTTP server of a handler.
    """

    def __init__(self, session: Callable[[], Visitor | None], serve: Callable[[Handler], web.Server]) -> None:
        self._session = session
        self._server = serve(self._handle)
        self._listener: asyncio.Server | None = None
        self._path: Path | None = None

    async def open(self, folder: Path) -> None:
        self._path = folder / SOCKET
        self._listener = await asyncio.get_running_loop().create_unix_server(self._server, self._path)
        self._path.chmod(0o666)

    async def close(self) -> None:
        if self._listener:
            self._listener.close()
        await self._server.shutdown(timeout=1.0)
        if self._path:
            self._path.unlink(missing_ok=True)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        session = self._session()
        if session is None:
            return refusal(409, "idle", "no episode has begun")
        if session.ended.done():
            return gone()
        if session.web is None:
            session.note_denied(request.method, request.raw_path[:500], NO_WEB)
            return refusal(403, "denied", NO_WEB)
        try:
            if request.method == "CONNECT" and not isinstance(request.protocol, _Tunnel):
                return await self._end_tls(request, session.web)
            return await _serve(session, session.web, request)
        except (ConnectionError, asyncio.CancelledError, web.HTTPException):
            raise
        except Exception as error:
            session.fail(host_or_gateway_fault(error))
            return gone()

    async def _end_tls(self, request: web.BaseRequest, door: WebDoor) -> web.Response:
        """Turn the connection into a TLS one with a handler of its own; what is returned goes nowhere."""
        outer, transport = request.protocol, request.transport
        if transport is None:
            return web.Response()
        inner = _Tunnel(self._server, request.raw_path)
        transport.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        outer.transport = None  # the connection is the tunnel's from here on
        outer.connection_lost(None)
        try:
            ended = await asyncio.get_running_loop().start_tls(
                transport, inner, door.tls, server_side=True, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
        except (OSError, TimeoutError):
            ended = None
        if ended is None:
            transport.close()
        else:
            inner.connection_made(ended)
        return web.Response()


class _Tunnel(web.RequestHandler):
    """The protocol inside a CONNECT; `authority` is the host:port that was asked for."""

    __slots__ = ("authority",)

    def __init__(self, server: Any, authority: str) -> None:
        silent = logging.getLogger("fieldmark.gateway.http")  # the door has disabled it
        super().__init__(server, loop=asyncio.get_running_loop(), logger=silent, access_log=silent)
        self.authority = authority


async def _serve(session: Visitor, door: WebDoor, request: web.BaseRequest) -> web.Response:
    url = _url(request)
    if request.method not in METHODS:
        session.note_denied(request.method, url[:500], f"only {' and '.join(METHODS)} are let through")
        return _refusal(403, "denied", f"only {' and '.join(METHODS)} are let through")
    if "upgrade" in request.headers.get("Connection", "").lower() and "Upgrade" in request.headers:
        session.note_denied(request.method, url[:500], "WebSockets and other upgrades are not let through")
        return _refusal(403, "denied", "WebSockets and other upgrades are not let through")
    try:
        exchange = await session.work(door.exchange(session, request.method, url, request.headers))
    except Denied as denied:
        return _refusal(403, "denied", str(denied))
    except Missed as missed:
        return _refusal(504, "unavailable", str(missed))
    except Unreachable as failure:
        if failure.timed_out:
            return _refusal(504, "timeout", str(failure))
        return _refusal(502, "unavailable", str(failure))
    return _response(exchange)


def _refusal(status: int, kind: str, message: str) -> web.Response:
    """Marked, so that the browser tool tells it from a page: no site can send a header of this name."""
    reply = refusal(status, kind, message)
    reply.headers[REFUSAL] = kind
    return reply


def _url(request: web.BaseRequest) -> str:
    """Inside a tunnel the host is the one that the tunnel was asked for, whatever the Host header says."""
    path = request.raw_path
    if not isinstance(request.protocol, _Tunnel):
        return path
    authority = request.protocol.authority.removesuffix(":443")
    return f"https://{authority}{path if path.startswith('/') else f'/{path}'}"


def _response(exchange: Exchange) -> web.Response:
    headers = dict(exchange.headers)
    if exchange.media_type:
        headers["Content-Type"] = exchange.media_type
    if exchange.location is not None:
        headers["Location"] = exchange.location
    return web.Response(status=exchange.http, body=exchange.body, headers=headers)
