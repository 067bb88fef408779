"""Where model calls go: an HTTP endpoint with retries, behind one small interface.

Retries happen only before the first byte reaches the agent. 429, 408, 409, 425, 5xx, resets and time-outs
are tried again; no other 4xx is. What stays down, refuses the key, has no quota left, breaks off a stream or
never stops talking is a ModelFault.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

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
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url
from fieldmark.sandbox.gateway.pacing import Pace, Place
from fieldmark.sandbox.gateway.upstream_errors import Again, ServerError
from fieldmark.sandbox.gateway.wire import messages
from fieldmark.trace import Purpose

TRIES = 6
MAX_REPLY = 32 * 2**20
"""Bytes of one reply of a model."""
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 600.0
BACK_OFF = wait_random_exponential(multiplier=0.5, max=20.0)


@dataclass
class UpstreamReply:
    """A reply whose first byte is there. `chunks` yields its body once.

    `cached`: it was asked earlier. `drift`: how the request differs from the one that is replayed.
    `forked`: what of the replayed reply was changed.
    """

    status: int
    content_type: str
    chunks: AsyncIterator[bytes]
    tries: int = 1
    waited: float = 0.0
    cached: bool = False
    drift: str | None = None
    forked: dict[str, Any] | None = None

    @property
    def streams(self) -> bool:
        """Whether it is a stream of server-sent events."""
        return "event-stream" in self.content_type


class Upstream(Protocol):
    """`name` is the model's name as the upstream knows it; `sees` is whether it takes pictures.

    `force` are parameters that every request to it has, whatever its sender asks.
    """

    name: str
    sees: bool
    force: Mapping[str, Any]

    def for_episode(self, task: str, epoch: int) -> Upstream:
        """The same model for one attempt at a task: itself, unless it counts an episode's requests."""

    def send(
        self, path: str, payload: bytes, clock: Clock, *, whole: bool, headers: Mapping[str, str],
        purpose: Purpose = "step",
    ) -> AbstractAsyncContextManager[UpstreamReply]:  # fmt: skip
        """Send one request to a path below the base URL (`/chat/completions`, `/responses`, `/messages`).

        `whole`: read the body inside, so that a cut is retried too. `headers`: of the client, to pass on.
        `purpose` finds its place in a recording.
        """

    async def close(self) -> None:
        """Give back connections; no call follows."""


class HttpUpstream:
    """A server of one or more wire formats. The key stays in this process.

    A request has a place of `pace` from each try to the last byte of the reply, none between tries.
    """

    def __init__(
        self, name: str, base_url: str, key_env: str | None = None, *, sees: bool = True,
        force: Mapping[str, Any] | None = None, back_off: wait_base = BACK_OFF,
    ) -> None:  # fmt: skip
        self.name = name
        self.sees = sees
        self.force = force or {}
        self.pace = Pace()
        self._base_url = base_url
        self._key_env = key_env
        self._back_off = back_off
        self._client: aiohttp.ClientSession | None = None

    @property
    def base_url(self) -> str:
        """With its query, which can hold a key."""
        return self._base_url

    def for_episode(self, task: str, epoch: int) -> HttpUpstream:
        return self

    async def close(self) -> None:
        if self._client:
            await self._client.close()

    @asynccontextmanager
    async def send(
        self, path: str, payload: bytes, clock: Clock, *, whole: bool, headers: Mapping[str, str],
        purpose: Purpose = "step",
    ) -> AsyncIterator[UpstreamReply]:  # fmt: skip
        post = _Post(path, endpoint(self._base_url, path), payload, {**headers, **self._own_headers(path)})
        began = time.monotonic()
        reply: UpstreamReply | None = None
        response: aiohttp.ClientResponse | None = None
        place: Place | None = None
        try:
            async for attempt in _retrying(clock, self._back_off):
                with attempt:
                    place = await self.pace.take(clock)
                    tried = place.began
                    try:
                        response, reply = await self._try(post, whole)
                    except Again as again:
                        clock.forgive(time.monotonic() - tried)
                        self._slow_down(place, again)
                        raise
                    self.pace.went_well(place)
                    reply.tries = attempt.retry_state.attempt_number
                    reply.waited = round(tried - began, 3)
            assert reply is not None
            yield reply
        except Again as error:
            raise ModelFault(f"{post.shown}: {error} ({TRIES} tries)", kind="unreachable") from None
        finally:
            if response is not None:
                response.close()
            if place is not None:
                self.pace.give_back(place)

    def _slow_down(self, place: Place, again: Again) -> None:
        if again.overload:
            self.pace.overloaded(place)
        if again.after is not None:
            self.pace.hold(again.after)
        self.pace.give_back(place)

    async def _try(self, post: _Post, whole: bool) -> tuple[aiohttp.ClientResponse, UpstreamReply]:
        response = None
        try:
            response = await self._session().post(post.url, data=post.payload, headers=post.headers)
            content_type = response.headers.get("Content-Type", "application/json")
            chunks = _limited(response, post)
            if response.status >= 400 or whole:
                body = b"".join([chunk async for chunk in chunks])
                self._judge(response, post, body)
                chunks = each([body])
            else:
                chunks = _passing(chunks, post)
            kept, response = response, None
            return kept, UpstreamReply(kept.status, content_type, chunks)
        except aiohttp.ClientConnectorCertificateError as error:
            why = f"{post.shown}: its certificate is not trusted ({error.certificate_error})"
            message = f"{why[:300]}: name the file of your CA in SSL_CERT_FILE"
            raise ModelFault(message, kind="certificate", stops_run=True) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            overload = isinstance(error, TimeoutError)
            raise Again(f"{type(error).__name__}: {error}"[:300], overload=overload) from None
        finally:
            if response is not None:  # one that broke off, or is an error: nobody else closes it
                response.close()

    def _judge(self, response: aiohttp.ClientResponse, post: _Post, body: bytes) -> None:
        if response.status >= 400:
            ServerError(response.status, post.shown, post.path, response.headers, body, self.force).judge()

    def _own_headers(self, path: str) -> dict[str, str]:
        """The key where the format has it; in Messages, other servers than Anthropic's want a bearer."""
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(self._key_env, "") if self._key_env else ""
        is_messages = path.startswith(messages.PATH)
        if key and is_messages:
            headers["x-api-key"] = key
        if key and not (is_messages and (urlsplit(self._base_url).hostname or "").endswith("anthropic.com")):
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=READ_TIMEOUT)
            # a context of its own: that of aiohttp is as old as the process, whatever SSL_CERT_FILE says now
            connector = aiohttp.TCPConnector(limit=0, ssl=ssl.create_default_context())
            self._client = aiohttp.ClientSession(timeout=timeout, connector=connector, trust_env=True)
        return self._client


@dataclass(frozen=True)
class _Post:
    """What is sent, and where. `path` is below the base URL."""

    path: str
    url: str
    payload: bytes
    headers: Mapping[str, str]

    @property
    def shown(self) -> str:
        """The URL as it may stand in a message: a query can hold a key."""
        return public_url(self.url)


async def _passing(chunks: AsyncIterator[bytes], post: _Post) -> AsyncIterator[bytes]:
    """Chunks that the agent sees at once, so that a cut can no longer be hidden by another try."""
    try:
        async for chunk in chunks:
            yield chunk
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise ModelFault(f"{post.shown}: the stream broke off: {error}"[:300], kind="cut") from None


async def _limited(response: aiohttp.ClientResponse, post: _Post) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > MAX_REPLY:
            response.close()
            raise ModelFault(f"{post.shown}: a reply of over {MAX_REPLY} bytes", kind="reply_too_large")
        yield chunk


def _retrying(clock: Clock, back_off: wait_base) -> AsyncRetrying:
    async def sleep(seconds: float) -> None:
        with clock.waiting():
            await asyncio.sleep(seconds)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        after = error.after if isinstance(error, Again) else None
        return after if after is not None else back_off(state)

    again = retry_if_exception_type(Again)
    return AsyncRetrying(stop=stop_after_attempt(TRIES), wait=wait, retry=again, sleep=sleep, reraise=True)


async def each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Chunks that are there already, for a reply."""
    for chunk in chunks:
        yield chunk
