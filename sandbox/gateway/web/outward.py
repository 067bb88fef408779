"""The one place where requests leave this machine: the address checked is the address connected to."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from fieldmark import __version__
from fieldmark.sandbox.gateway.web import addresses
from fieldmark.sandbox.gateway.web.exchange import KEPT_HEADERS, REDIRECTS, Exchange, Unreachable
from fieldmark.sandbox.gateway.web.policy import Policy, Target

USER_AGENT = f"fieldmark/{__version__} (research agent; one page at a time)"
MAX_BYTES = 10 * 10**6
"""Bytes of a body, after decompression; the rest is not read."""
TOTAL_SECONDS = 30.0
CONNECT_SECONDS = 10.0
SILENT_SECONDS = 15.0
MAX_HEADER = 32 * 1024
_PASSED_ON = ("accept", "accept-language")
_CHUNK = 64 * 1024

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Host and port → all its addresses, as texts. OSError when there are none."""


class Outward:
    """Sends GET and HEAD. `resolve` and `trust` (default: the system's) are what tests put in."""

    def __init__(
        self,
        policy: Policy,
        *,
        resolve: Resolve | None = None,
        trust: ssl.SSLContext | None = None,
        seconds: float = TOTAL_SECONDS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._policy = policy
        self._resolve = resolve or system_addresses
        self._trust = trust
        self._seconds = seconds
        self._max_bytes = max_bytes

    async def send(self, method: str, target: Target, headers: Mapping[str, str] | None = None) -> Exchange:
        """One request; redirects are returned. Denied by what the name resolves to; Unreachable."""
        try:
            async with asyncio.timeout(self._seconds):
                pinned = await self._addresses(target)
                return await self._exchange(method, target, pinned, _passed_on(headers or {}))
        except TimeoutError:
            raise Unreachable(f"{target.host} took over {self._seconds:g} s", timed_out=True) from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise Unreachable(
                f"the certificate of {target.host} is not valid: {error.certificate_error}"
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise Unreachable(f"{target.host} cannot be read: {what}"[:300]) from None

    async def _addresses(self, target: Target) -> list[str]:
        try:
            if not target.local and addresses.literal(target.host) is not None:
                return self._policy.check_answers(target, [target.host])
            found = await self._resolve(target.host, target.port)
        except OSError as error:
            raise Unreachable(f"no address for {target.host}: {error.strerror or error}") from None
        checked = self._policy.check_answers(target, found)
        if not checked:
            raise Unreachable(f"no address for {target.host}")
        return checked

    async def _exchange(
        self, method: str, target: Target, pinned: list[str], headers: Mapping[str, str]
    ) -> Exchange:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS)
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(target.host, pinned), use_dns_cache=False, force_close=True, ssl=self._ssl
        )
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False,
            headers={"User-Agent": USER_AGENT, "Accept-Language": "*"}, requote_redirect_url=False,
            max_line_size=MAX_HEADER, max_field_size=MAX_HEADER,
        ) as session, session.request(
            method, URL(target.url, encoded=True), headers=headers, allow_redirects=False
        ) as reply:  # fmt: skip
            body, truncated = await self._body(reply)
            return _exchange(target, reply, body, truncated)

    async def _body(self, reply: aiohttp.ClientResponse) -> tuple[bytes, bool]:
        """At most `max_bytes`, and whether there was more."""
        if reply.status in REDIRECTS:
            return b"", False
        body = bytearray()
        async for chunk in reply.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > self._max_bytes:
                return bytes(body[: self._max_bytes]), True
        return bytes(body), False

    @cached_property
    def _ssl(self) -> ssl.SSLContext:
        return self._trust or ssl.create_default_context()


class _Pinned(AbstractResolver):
    """Answers with the addresses that were checked, and for no other name."""

    def __init__(self, host: str, answers: list[str]) -> None:
        self._host = host
        self._answers = answers

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host != self._host:
            raise OSError(None, f"{host} was not checked")
        return [
            ResolveResult(
                hostname=host, host=answer, port=port, proto=0, flags=socket.AI_NUMERICHOST,
                family=socket.AF_INET6 if ":" in answer else socket.AF_INET,
            )
            for answer in self._answers
        ]  # fmt: skip

    async def close(self) -> None:
        """Nothing is held."""


async def system_addresses(host: str, port: int) -> list[str]:
    """What this machine's resolver says."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """Of a browser's own headers those that say nothing of who it is."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: lower[name] for name in _PASSED_ON if name in lower}


def _exchange(target: Target, reply: Any, body: bytes, truncated: bool) -> Exchange:
    location = reply.headers.get("Location") if reply.status in REDIRECTS else None
    return Exchange(
        url=target.url,
        http=reply.status,
        media_type=_plain(reply.headers.get("Content-Type", ""))[:200],
        body=body,
        location=_absolute(target.url, _plain(location)) if location else None,
        headers={name: _plain(reply.headers[name])[:2000] for name in KEPT_HEADERS if name in reply.headers},
        truncated=truncated,
    )


def _plain(value: str) -> str:
    """A header without the bytes that are no UTF-8."""
    return value.encode("utf-8", "replace").decode()


def _absolute(base: str, location: str) -> str:
    """Where a redirect leads; what cannot be joined is given as it is, for the policy to refuse."""
    try:
        return str(URL(base).join(URL(location)))
    except ValueError:
        return location
