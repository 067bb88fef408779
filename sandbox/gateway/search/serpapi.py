"""SerpApi, asked from the host by its own package: in threads, with a time-out, retries and named failures.

The key stays in here. Errors of the package are never passed on as they are: their texts hold the URL, and
the URL holds the key.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential
from tenacity.wait import wait_base

from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.clock import Clock

TRIES = 4
SECONDS = 45.0
"""What one try may take. Twice all tries (a search without results is asked twice) stays below the ten
minutes that a tool waits for the gateway.
"""
BACK_OFF = wait_random_exponential(multiplier=1.0, max=20.0)
BASE_URL_ENV = "SERPAPI_BASE_URL"
"""Points the client at another server than SerpApi's, for tests."""
MAX_UPLOAD = 500_000
"""Bytes of a picture, SerpApi's limit."""

FailureKind = Literal[
    "quota",
    "invalid_key",
    "bad_engine",
    "rate_limit",
    "timeout",
    "malformed",
    "unreachable",
    "no_answer",
    "refused",
]
_AGAIN = frozenset({"rate_limit", "timeout", "malformed", "unreachable", "no_answer"})
_QUOTA = re.compile(r"run out of searches|no searches left|searches? (limit|quota) (is )?reached", re.I)
_KEY = re.compile(r"api[ _]key", re.I)
_ENGINE = re.compile(r"unsupported .*engine|missing query", re.I)
T = TypeVar("T")


class SearchFailed(Exception):
    """A search without a reply. `quota`, `invalid_key` and `bad_engine` (one that SerpApi does not have, or
    asks otherwise) hold for the whole run, `refused` is about this query; `no_answer`: SerpApi got nothing
    valid from the engine. `http` is SerpApi's status, where it answered.
    """

    def __init__(self, kind: FailureKind, message: str, http: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.http = http


class SerpApi:
    """One account. Replies come without the key, wherever it stood in them."""

    def __init__(
        self,
        key: str,
        base_url: str | None = None,
        *,
        seconds: float = SECONDS,
        back_off: wait_base = BACK_OFF,
    ) -> None:
        self.base_url = base_url.rstrip("/") if base_url else None
        self._key = key
        self._seconds = seconds
        self._back_off = back_off

    @classmethod
    def from_environment(cls, key_env: str) -> SerpApi:
        """UsageError when the variable `key_env` holds no key."""
        key = os.environ.get(key_env, "").strip()
        if not key:
            raise UsageError(
                f"SerpApi needs a key: put it into ${key_env}, or name another --serpapi-key-env"
            )
        return cls(key, os.environ.get(BASE_URL_ENV) or None)

    async def search(self, clock: Clock, params: Mapping[str, str]) -> dict[str, Any]:
        """The reply of an engine; one that found nothing is a reply. SearchFailed after the last try."""

        def once() -> dict[str, Any]:
            # a copy: the package writes the key into the dictionary it is given
            return self._checked(self._client().search(dict(params)))

        return await self._tried(clock, once)

    async def upload(self, clock: Clock, jpeg: bytes) -> str:
        """The `image_id` of a picture of at most MAX_UPLOAD bytes, for Google Lens."""

        def once() -> str:
            file = io.BytesIO(jpeg)
            file.name = "picture.jpg"
            reply = self._checked(self._client().upload_image(file), is_search=False)
            if not isinstance(reply.get("image_id"), str):
                raise SearchFailed("malformed", "SerpApi took the picture and gave no image_id", 200)
            return str(reply["image_id"])

        return await self._tried(clock, once)

    def searches_left(self) -> int | None:
        """Of the account, None where SerpApi does not say. Free of charge. SearchFailed."""
        left = _named(self._key, lambda: self._client().account()).get("total_searches_left")
        return left if isinstance(left, int) else None

    def _client(self) -> Any:
        import serpapi

        client = serpapi.Client(api_key=self._key, timeout=self._seconds)
        if self.base_url:
            client.BASE_DOMAIN = self.base_url
        return client

    async def _tried(self, clock: Clock, job: Callable[[], T]) -> T:
        async def sleep(seconds: float) -> None:
            with clock.waiting():
                await asyncio.sleep(seconds)

        async def once() -> T:
            began = time.monotonic()
            try:
                return await _in_thread(lambda: _named(self._key, job), self._seconds)
            except SearchFailed:
                clock.forgive(time.monotonic() - began)
                raise

        again = retry_if_exception(lambda error: isinstance(error, SearchFailed) and error.kind in _AGAIN)
        return await AsyncRetrying(
            stop=stop_after_attempt(TRIES), wait=self._back_off, retry=again, sleep=sleep, reraise=True
        )(once)

    def _checked(self, reply: Any, *, is_search: bool = True) -> dict[str, Any]:
        """A reply with HTTP 200, without the key; SearchFailed when it is none after all."""
        if not isinstance(getattr(reply, "data", reply), dict):
            raise SearchFailed("malformed", "SerpApi answered with something that is not its JSON", 200)
        kept: dict[str, Any] = _without(self._key, dict(reply))
        said = kept.get("error")
        metadata = kept.get("search_metadata")
        status = metadata.get("status") if isinstance(metadata, dict) else None
        if said and status not in ("Success", "Cached"):
            raise _by_text(str(said), 200) or SearchFailed("no_answer", _short(said), 200)
        if is_search and status not in ("Success", "Cached"):
            raise SearchFailed("malformed", "SerpApi's reply does not say that the search succeeded", 200)
        return kept


def _named(key: str, job: Callable[[], T]) -> T:
    """Run a call of the package; whatever it raises becomes a SearchFailed without the key."""
    import requests

    try:
        return job()
    except SearchFailed:
        raise
    except requests.exceptions.Timeout:
        raise SearchFailed("timeout", "SerpApi did not answer in time") from None
    except Exception as error:  # the package raises its own, requests' and, on odd bodies, AttributeError
        raise _failure(key, error) from None


def _failure(key: str, error: Exception) -> SearchFailed:
    response = _response(error)
    if response is None:
        is_http = isinstance(error, OSError) and not isinstance(error, ValueError)
        if is_http:
            return SearchFailed("unreachable", "SerpApi cannot be reached")
        return SearchFailed("malformed", "SerpApi answered with something that is not JSON", 200)
    status = int(response.status_code)
    try:
        said = _short(_without(key, response.json()["error"]))
    except (ValueError, KeyError, TypeError):
        said = ""
    named = _by_text(said, status)
    if named:
        return named
    if status in (401, 403):
        return SearchFailed("invalid_key", said or "SerpApi refuses the key", status)
    if status == 429:
        return SearchFailed("rate_limit", said or "SerpApi limits the rate of searches", status)
    if status >= 500:
        return SearchFailed("unreachable", f"SerpApi answered HTTP {status}", status)
    return SearchFailed("refused", said or f"SerpApi refused the search (HTTP {status})", status)


def _by_text(said: str, status: int) -> SearchFailed | None:
    """Failures that are told by their words, since a used-up quota has the status of a rate limit."""
    if _QUOTA.search(said):
        return SearchFailed("quota", _short(said), status)
    if _KEY.search(said):
        return SearchFailed("invalid_key", _short(said), status)
    if _ENGINE.search(said):
        return SearchFailed("bad_engine", _short(said), status)
    return None


def _response(error: BaseException | None) -> Any:
    """The HTTP response behind an error or what it was raised from; None when there was none."""
    while error is not None:
        response = getattr(error, "response", None)
        if response is not None:
            return response
        error = error.__cause__ or error.__context__
    return None


def _without(key: str, value: Any) -> Any:
    """A copy of JSON without the key, also inside longer texts."""
    if isinstance(value, dict):
        return {name: _without(key, inner) for name, inner in value.items() if name != "api_key"}
    if isinstance(value, list):
        return [_without(key, inner) for inner in value]
    return value.replace(key, "***") if isinstance(value, str) else value


def _short(said: Any) -> str:
    return " ".join(str(said).split())[:200]


async def _in_thread(job: Callable[[], T], seconds: float) -> T:
    """In a daemon thread: what hangs in there holds up neither the loop nor the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, failed = None, None
        try:
            result = job()
        except BaseException as error:
            failed = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=work, name="fieldmark-serpapi", daemon=True).start()
    try:
        return await asyncio.wait_for(done, seconds)
    except TimeoutError:
        raise SearchFailed("timeout", f"SerpApi did not answer within {seconds:g} s") from None
