"""What every request must pass and every response carries. What is shown was written by strangers."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "fieldmark_token"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""No inline script or style, nothing from elsewhere, in no frame. `Cache-Control` is a default.

With `no-referrer` a browser would say `Origin: null` of our own forms as well.
"""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class Door:
    """Who may come in: by which names of this machine, and, beyond it, with which token."""

    hosts: frozenset[str]
    token: str | None


def door_of(host: str) -> Door:
    """That of a server that listens at `host`: a new token where other machines reach it."""
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    own = {socket.gethostname().lower()} if token else set()
    return Door(frozenset({*LOOPBACK, host.lower(), *own}), token)


class Guard:
    """Refuses a foreign `Host` (a page elsewhere whose name was pointed here) and, where there is a `token`,
    whoever does not have it. `hosts`: names in small letters, without port; with a token, any address too.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], token: str | None) -> None:
        self._app, self._hosts, self._token = app, frozenset(hosts), token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(Request(scope))
        await (refused or self._app)(scope, receive, with_headers)

    def _refused(self, request: Request) -> Response | None:
        host = host_name(request.headers.get("host", ""))
        if host not in self._hosts and not (self._token and _is_address(host)):
            return PlainTextResponse(f"no host {host!r} here: open the address that was printed", 421)
        return self._without_token(request) if self._token else None

    def _without_token(self, request: Request) -> Response | None:
        """A right token in the URL becomes a cookie, and leaves the URL; a wrong one is refused."""
        given = request.query_params.get("token")
        if given is not None and self._is_token(given):
            kept = _without(request.query_params, "token")
            path = "/" + request.url.path.lstrip("/")  # `//elsewhere` would be another host
            back = RedirectResponse(path + (f"?{kept}" if kept else ""), 303)
            back.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return back
        if given is None and self._is_token(request.cookies.get(COOKIE, "")):
            return None
        return PlainTextResponse("a token is needed: open the whole address that was printed", 401)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), (self._token or "").encode())


def is_own_form(request: Request, given: str, token: str) -> bool:
    """Whether a form came from a page of ours: its Origin is this address and its `given` is our `token`.

    A browser says the Origin of every form, and no page elsewhere can read ours.
    """
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return request.headers.get("origin") == own and secrets.compare_digest(given.encode(), token.encode())


def host_name(header: str) -> str:
    """The name or address in a `Host` header, without port and brackets, in small letters."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].removesuffix(".")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    return host.lower() in LOOPBACK or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _without(query: QueryParams, name: str) -> str:
    return urlencode([(key, value) for key, value in query.multi_items() if key != name])
