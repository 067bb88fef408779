"""`--cache`: replies of model servers, kept for the next run that asks the very same.

A reply is found by (model, URL, path, bytes of the request, task, epoch, n-th time in the episode): an
agent that asks the same thing twice gets two samples, and so do two epochs; an episode that is run again
gets the same ones. Only whole replies without an error are kept, as their bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldmark.errors import HostFault, UsageError
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url
from fieldmark.sandbox.gateway.upstream import HttpUpstream, Upstream, UpstreamReply, each
from fieldmark.sandbox.gateway.wire import messages
from fieldmark.sandbox.gateway.wire.common import Format, StreamReader, read_whole
from fieldmark.sandbox.gateway.wire.formats import format_of
from fieldmark.trace import Purpose

FILE = "model_calls.sqlite"
BUSY = 30.0
"""Seconds that a write of another process is waited for."""
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, content_type TEXT, body BLOB)"
_TELLING = ("anthropic-", "openai-beta")
"""Headers that change what a server answers."""


class ReplyCache:
    """A folder with one SQLite file, which several processes may use at once."""

    def __init__(self, folder: Path) -> None:
        """UsageError when it cannot be used."""
        self._path = folder / FILE
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self._path, timeout=BUSY, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(
                f"--cache {folder} cannot be used ({error}): name a folder to write to"
            ) from None

    def get(self, key: str) -> tuple[str, bytes] | None:
        """Media type and body. HostFault when the file cannot be read."""
        rows = self._run("SELECT content_type, body FROM replies WHERE key = ?", key)
        return rows[0] if rows else None

    def put(self, key: str, content_type: str, body: bytes) -> None:
        """Of two processes that ask the same at once the first one's reply stays."""
        self._run("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", key, content_type, body)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _run(self, statement: str, *values: object) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            message = f"the cache {self._path} cannot be used ({error}): make room, or leave --cache out"
            raise HostFault(message, kind="cache", stops_run=True) from None


class CachedUpstream:
    """A server behind a cache. `episode`: task and epoch, of `for_episode`."""

    def __init__(self, server: HttpUpstream, cache: ReplyCache, episode: tuple[str, int] = ("", 0)) -> None:
        self.name = server.name
        self.sees = server.sees
        self.force: Mapping[str, Any] = server.force
        self._server = server
        self._cache = cache
        self._episode = episode
        self._asked: Counter[str] = Counter()

    def for_episode(self, task: str, epoch: int) -> CachedUpstream:
        return CachedUpstream(self._server, self._cache, (task, epoch))

    async def close(self) -> None:
        await self._server.close()
        self._cache.close()

    @asynccontextmanager
    async def send(
        self, path: str, payload: bytes, clock: Clock, *, whole: bool, headers: Mapping[str, str],
        purpose: Purpose = "step",
    ) -> AsyncIterator[UpstreamReply]:  # fmt: skip
        key = None if path == messages.COUNT_PATH else self._key(path, payload, headers)
        kept = await asyncio.to_thread(self._cache.get, key) if key else None
        if kept:
            content_type, body = kept
            yield UpstreamReply(200, content_type, each([body]), tries=0, cached=True)
            return
        async with self._server.send(path, payload, clock, whole=whole, headers=headers) as reply:
            if key and reply.status == 200:
                reply = replace(reply, chunks=self._keeping(key, format_of(path), reply))
            yield reply

    def _key(self, path: str, payload: bytes, headers: Mapping[str, str]) -> str:
        url = public_url(endpoint(self._server.base_url, path))
        telling = sorted(item for item in headers.items() if item[0].startswith(_TELLING))
        request = hashlib.sha256(repr((self.name, url, telling)).encode() + payload).hexdigest()
        self._asked[request] += 1
        task, epoch = self._episode
        return hashlib.sha256(repr((request, task, epoch, self._asked[request])).encode()).hexdigest()

    async def _keeping(self, key: str, wire: Format, reply: UpstreamReply) -> AsyncIterator[bytes]:
        """The chunks of a reply; once all have passed, they are stored."""
        chunks = []
        async for chunk in reply.chunks:
            chunks.append(chunk)
            yield chunk
        body = b"".join(chunks)
        if _is_sound(wire, body, streams=reply.streams):
            await asyncio.to_thread(self._cache.put, key, reply.content_type, body)


def cached(upstream: Upstream, cache: ReplyCache | None) -> Upstream:
    """`upstream` behind a cache where there is one; what asks no server needs none."""
    return CachedUpstream(upstream, cache) if cache and isinstance(upstream, HttpUpstream) else upstream


def _is_sound(wire: Format, body: bytes, *, streams: bool) -> bool:
    """Whether a body is a whole reply without an error."""
    if not streams:
        return read_whole(wire, body).error is None
    reader = StreamReader(wire.read_stream())
    reader.feed(body)
    facts = reader.facts()
    return facts.complete and facts.error is None
