"""attributes.sqlite: the pictures, every request with its settings, and every reply, each kept once.

A reply is on disk before the next request of its question goes out: a kill loses none that has come.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.trace import Tokens

FILE = "attributes.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS pictures (id TEXT PRIMARY KEY, path TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS requests (key TEXT PRIMARY KEY, settings TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS replies (
    key TEXT NOT NULL REFERENCES requests (key), attempt INTEGER NOT NULL, model TEXT NOT NULL,
    text TEXT NOT NULL, tokens TEXT, at TEXT NOT NULL, PRIMARY KEY (key, attempt)
) STRICT;
"""


@dataclass(frozen=True)
class Pictured:
    """A picture that is labelled. `path` is relative to the folder; `origin`: where it came from."""

    id: str
    path: str
    origin: str


class State:
    """One connection, for several threads."""

    def __init__(self, folder: Path) -> None:
        """UsageError: the file cannot be read."""
        self._lock = Lock()
        path = folder / FILE
        try:
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{path} cannot be read ({error}): restore it from a copy") from None

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, picture: Pictured) -> bool:
        """Whether it is new; the same pixels a second time are not."""
        sql = "INSERT OR IGNORE INTO pictures VALUES (?, ?, ?)"
        with self._lock:
            row = [picture.id, picture.path, picture.origin]
            return self._database.execute(sql, row).rowcount == 1

    def pictures(self) -> list[Pictured]:
        """In the order of their ids."""
        rows = self._database.execute("SELECT id, path, origin FROM pictures ORDER BY id").fetchall()
        return [Pictured(*row) for row in rows]

    def reply(self, key: str, attempt: int) -> str | None:
        """The text of a reply that has come; attempts count from 1."""
        sql = "SELECT text FROM replies WHERE key = ? AND attempt = ?"
        with self._lock:
            row = self._database.execute(sql, [key, attempt]).fetchone()
        return str(row[0]) if row else None

    def keep(
        self, key: str, attempt: int, model: str,
        settings: Mapping[str, Any], text: str, tokens: Tokens | None,
    ) -> None:  # fmt: skip
        """On disk when this returns."""
        used = tokens.model_dump_json() if tokens else None
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            asked = [key, json.dumps(settings, ensure_ascii=False, sort_keys=True)]
            self._database.execute("INSERT OR IGNORE INTO requests VALUES (?, ?)", asked)
            row = [key, attempt, model, text.encode("utf-8", "replace").decode(), used, now]
            self._database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?)", row)
            self._database.execute("COMMIT")

    def used(self) -> Iterator[tuple[str, Tokens | None]]:
        """Model and usage of every reply that was ever paid for; None where its server did not say."""
        for model, tokens in self._database.execute("SELECT model, tokens FROM replies"):
            yield model, Tokens.model_validate_json(tokens) if tokens else None
