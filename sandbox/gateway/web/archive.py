"""What went over the web, kept so that a run can be replayed without it.

A folder: `index.jsonl` with one row for each exchange and `blobs/<first 2>/<sha256>` with the bodies. The
last row of a key counts. Search results are kept the same way, with a `method` of their own.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.web.exchange import Exchange

INDEX, BLOBS = "index.jsonl", "blobs"
MISSING_KEPT = 1_000
"""Distinct URLs of misses that are remembered for the report."""


@dataclass
class Uses:
    """How an archive answered. `missing` counts the misses of each URL, in the order they first came."""

    hits: int = 0
    misses: int = 0
    recorded: int = 0
    missing: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def miss(self, url: str) -> None:
        self.misses += 1
        if url in self.missing or len(self.missing) < MISSING_KEPT:
            self.missing[url] = self.missing.get(url, 0) + 1


class Archive:
    """Threads of one process may share one; a second process may read it meanwhile."""

    def __init__(self, folder: Path, rows: dict[str, dict[str, Any]]) -> None:
        self.folder = folder
        self.uses = Uses()
        self._rows = rows
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, *, write: bool = False) -> Archive:
        """An existing archive; with `write` also a new one. A half-written last row is left out (cut off,
        with `write`). UsageError when it is not there or cannot be read or written.
        """
        index = folder / INDEX
        try:
            if write:
                (folder / BLOBS).mkdir(parents=True, exist_ok=True)
                index.touch()
            elif not index.is_file():
                raise UsageError(f"{folder} is no web archive (no {INDEX}): make one with --web record")
            lines = jsonl.read(index)
            if write:
                _cut(index, lines.good_bytes)
        except OSError as error:
            raise UsageError(f"the web archive {folder} cannot be used: {error.strerror}") from None
        return cls(folder, {str(row["key"]): row for row in lines.rows if "key" in row})

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, method: str, url: str) -> Exchange | None:
        """What is kept of a request; None, and a miss, when nothing is or its body is lost."""
        row = self._rows.get(key(method, url))
        body = self._body(row) if row else None
        with self._lock:
            if row is None or body is None:
                self.uses.miss(url)
                return None
            self.uses.hits += 1
        return Exchange(
            url=url, http=int(row["http"]), media_type=row.get("media_type") or "", body=body,
            location=row.get("location"), headers=row.get("headers") or {},
            truncated=bool(row.get("truncated")),
        )  # fmt: skip

    def put(self, method: str, exchange: Exchange) -> None:
        """Keep an exchange, in place of an older one of the same key. OSError when the disk is full."""
        row = {
            "key": key(method, exchange.url),
            "method": method,
            "url": exchange.url,
            "http": exchange.http,
            "media_type": exchange.media_type,
            "location": exchange.location,
            "headers": exchange.headers or None,
            "truncated": exchange.truncated or None,
            "blob": self._keep(exchange.body) if exchange.body else None,
            "t": round(time.time(), 3),
        }
        row = {name: value for name, value in row.items() if value is not None}
        with self._lock:
            jsonl.append(self.folder / INDEX, row, durable=False)
            self._rows[str(row["key"])] = row
            self.uses.recorded += 1

    def urls(self, method: str) -> list[str]:
        """What is kept of one method, in the order of recording."""
        with self._lock:
            return [str(row["url"]) for row in self._rows.values() if row.get("method") == method]

    def sha256(self) -> str:
        """One hash of all that a replay could give: keys, replies and the hashes of their bodies."""
        digest = hashlib.sha256()
        with self._lock:
            for name in sorted(self._rows):
                digest.update(jsonl.encode({k: v for k, v in self._rows[name].items() if k != "t"}))
        return digest.hexdigest()

    def _keep(self, body: bytes) -> str:
        digest = hashlib.sha256(body).hexdigest()
        path = self._path(digest)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            temporary = path.with_name(f".{digest}.{os.getpid()}.{threading.get_ident()}")
            temporary.write_bytes(body)
            temporary.replace(path)
        return digest

    def _body(self, row: dict[str, Any]) -> bytes | None:
        """None also when the bytes are not those that were recorded."""
        if not row.get("blob"):
            return b""
        try:
            body = self._path(str(row["blob"])).read_bytes()
        except OSError:
            return None
        return body if hashlib.sha256(body).hexdigest() == row["blob"] else None

    def _path(self, digest: str) -> Path:
        return self.folder / BLOBS / digest[:2] / digest


def key(method: str, url: str) -> str:
    """The name of a request. `url` is a Target's: normal form, query kept, no fragment. HEAD asks as GET."""
    return f"{'GET' if method == 'HEAD' else method} {url}"


def _cut(path: Path, good: int) -> None:
    """Leave whole lines only: a torn tail goes, a last line without its newline gets one."""
    with path.open("r+b") as file:
        file.truncate(good)
        file.seek(max(0, good - 1))
        if file.read(1) not in (b"", b"\n"):
            file.write(b"\n")
