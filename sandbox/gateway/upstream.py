"""Where model calls go: an HTTP endpoint with retries, behind one small interface.

Retries happen only before the first byte reaches the agent. 429, 408, 409, 425, 5xx, resets and time-outs
are tried again; no other 4xx is. What stays down, refuses the key, has no quota left, breaks off a stream or
never stops talking is a ModelFault.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)
from tenacity.wait import wait_base

from fieldmark.errors import ModelFault
from fieldmark.sandbox.gateway.clock import Clock

TRIES = 6
MAX_WAIT = 300.0
"""A Retry-After of more seconds is not waited for: the run stops, to be resumed then."""
MAX_REPLY = 32 * 2**20
"""Bytes of one reply of a model."""
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 600.0
_RETRIED = frozenset({408, 409, 425, 429})
BACK_OFF = wait_random_exponential(multiplier=0.5, max=20.0)


@dataclass
class UpstreamReply:
    """A reply whose first byte is there. `chunks` yields its body once."""

    status: int
    content_type: str
    chunks: AsyncIterator[bytes]
    tries: int = 1
    waited: float = 0.0


class Upstream(Protocol):
    """`name` is the model's name as the upstream knows it; `sees` is whether it takes pictures."""

    name: str
    sees: bool

    def chat(
        self, payload: bytes, clock: Clock, *, whole: bool
    ) -> AbstractAsyncContextManager[UpstreamReply]:
        """Send one Chat Completions request. `whole`: read the body inside, so that a cut is retried too."""

    async def close(self) -> None:
        """Give back connections; no call follows."""


def chat_url(base_url: str) -> str:
    """The Chat Completions URL for any usual spelling of a base URL.

    `http://h:p`, `…/v1`, `…/v1/chat/completions` mean the same; other paths and queries are kept.
    """
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    path = path or "/v1"
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/chat/completions", parts.query, ""))


class HttpUpstream:
    """An OpenAI-compatible server. The key stays in this process."""

    def __init__(
        self, name: str, base_url: str, key_env: str | None = None, *, sees: bool = True,
        back_off: wait_base = BACK_OFF,
    ) -> None:  # fmt: skip
        self.name = name
        self._back_off = back_off
        self.sees = sees
        self.url = chat_url(base_url)
        self._key_env = key_env
        self._client: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._client:
            await self._client.close()

    @asynccontextmanager
    async def chat(self, payload: bytes, clock: Clock, *, whole: bool) -> AsyncIterator[UpstreamReply]:
        began = time.monotonic()
        reply: UpstreamReply | None = None
        response: aiohttp.ClientResponse | None = None
        try:
            async for attempt in _retrying(clock, self._back_off):
                with attempt:
                    tried = time.monotonic()
                    try:
                        response, reply = await self._try(payload, whole)
                    except _Again:
                        clock.forgive(time.monotonic() - tried)
                        raise
                    reply.tries = attempt.retry_state.attempt_number
                    reply.waited = round(tried - began, 3)
            assert reply is not None
            yield reply
        except _Again as error:
            raise ModelFault(f"{self.url}: {error} ({TRIES} tries)", kind="unreachable") from None
        finally:
            if response is not None:
                response.close()

    async def _try(self, payload: bytes, whole: bool) -> tuple[aiohttp.ClientResponse, UpstreamReply]:
        try:
            response = await self._session().post(self.url, data=payload, headers=self._headers())
            await self._check(response)
            content_type = response.headers.get("Content-Type", "application/json")
            if not whole:
                return response, UpstreamReply(response.status, content_type, self._passing(response))
            body = b"".join([chunk async for chunk in self._limited(response)])
            return response, UpstreamReply(response.status, content_type, _once(body))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _Again(f"{type(error).__name__}: {error}"[:300]) from None

    async def _passing(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """Chunks that the agent sees at once, so that a cut can no longer be hidden by another try."""
        try:
            async for chunk in self._limited(response):
                yield chunk
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ModelFault(f"{self.url}: the stream broke off: {error}"[:300], kind="cut") from None

    async def _limited(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > MAX_REPLY:
                response.close()
                raise ModelFault(f"{self.url}: a reply of over {MAX_REPLY} bytes", kind="reply_too_large")
            yield chunk

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if status < 400:
            return
        if status in (401, 403, 404):
            raise ModelFault(
                f"{self.url} answered {status}: check the URL, the model's name and the key",
                kind=str(status),
                stops_run=True,
            )
        if status == 429 and _quota_is_used_up(await response.read()):
            raise ModelFault(f"{self.url}: the account's quota is used up", kind="quota", stops_run=True)
        if status in _RETRIED or status >= 500:
            after = _retry_after(response.headers)
            response.close()
            if after is not None and after > MAX_WAIT:
                message = f"{self.url} answered {status} and wants no request for {after:.0f} s"
                raise ModelFault(message, kind="rate_limit", stops_run=True)
            raise _Again(f"HTTP {status}", after)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._key_env, "") if self._key_env else ""
        return {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=READ_TIMEOUT)
            connector = aiohttp.TCPConnector(limit=0)
            self._client = aiohttp.ClientSession(timeout=timeout, connector=connector, trust_env=True)
        return self._client


class _Again(Exception):
    """A try that failed in a way worth another try; `after` is the server's Retry-After in seconds."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


def _retrying(clock: Clock, back_off: wait_base) -> AsyncRetrying:
    async def sleep(seconds: float) -> None:
        with clock.waiting():
            await asyncio.sleep(seconds)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        after = error.after if isinstance(error, _Again) else None
        return after if after is not None else back_off(state)

    again = retry_if_exception_type(_Again)
    return AsyncRetrying(stop=stop_after_attempt(TRIES), wait=wait, retry=again, sleep=sleep, reraise=True)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, given as seconds or as a date, which counts by the server's clock."""
    value = headers.get("Retry-After")
    if not value:
        return None
    try:
        seconds = float(value)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        date = headers.get("Date")
        now = parsedate_to_datetime(date).timestamp() if date else time.time()
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _quota_is_used_up(body: bytes) -> bool:
    try:
        error = json.loads(body)["error"]
        return "insufficient_quota" in (error.get("code"), error.get("type"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
