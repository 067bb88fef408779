"""NoteStore: the notes of a run in a LangGraph store, each beside its vectors.

SQLite in the run folder, or Postgres by URL. Neither uses the store's `index`, which needs extensions that
many builds of SQLite cannot load: vectors lie in the item and are searched in numpy. The log of the run
(`notes.py`) is the truth; `sync` makes the store equal to it again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.errors import UsageError
from fieldmark.memory.notes import Note
from fieldmark.memory.retrieval import Stored
from fieldmark.memory.vectors import packed, text_vector, unpacked

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, SearchItem

MOST = 100_000
"""Notes of one run that are read."""
POSTGRES = ("postgres://", "postgresql://")
INSTALL = "pip install 'fieldmark[postgres]'"


class StoreGone(OSError):
    """The store can no longer be read or written: the disk is full, the database went away."""


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    """Whatever breaks a database, SQLite's errors or psycopg's, is the host's fault."""
    try:
        yield
    except Exception as error:
        raise StoreGone(f"the notes cannot be reached: {' '.join(str(error).split())[:200]}") from error


class NoteStore:
    """The notes of one run: its namespace in a store that others may share. For one thread.

    Every method may raise StoreGone.
    """

    def __init__(self, store: BaseStore, run: str, resources: contextlib.ExitStack) -> None:
        self._store = store
        self._namespace = ("fieldmark", run.replace(".", "_"), "notes")  # no label may hold a full stop
        self._resources = resources

    @classmethod
    def open(cls, run: str, path: Path, url: str | None = None) -> NoteStore:
        """The store of `run`: in Postgres at `url`, else in SQLite at `path`. UsageError: unusable."""
        resources = contextlib.ExitStack()
        store = _postgres(url, resources) if url else _sqlite(path, resources)
        return cls(store, run, resources)

    def close(self) -> None:
        self._resources.close()

    def add(self, place: int, note: Note) -> None:
        """Put the note that is number `place` (from 0) of the log; the same place once more replaces it."""
        value = {"note": note.model_dump(mode="json"), "text": packed(text_vector(note.text))}
        with _reachable():
            self._store.put(self._namespace, _key(place), value, index=False)

    def sync(self, notes: Iterable[Note]) -> None:
        """Make the store hold these notes and no others."""
        wanted = {_key(place): note for place, note in enumerate(notes)}
        kept = {}
        for item in self._items():
            if item.key in wanted:
                kept[item.key] = item.value.get("note")
                continue
            with _reachable():
                self._store.delete(self._namespace, item.key)
        for place, (key, note) in enumerate(wanted.items()):
            if kept.get(key) != note.model_dump(mode="json"):
                self.add(place, note)

    def all(self) -> list[Stored]:
        """Every note with its vectors, in the order of the log."""
        return [_stored(item.value) for item in sorted(self._items(), key=lambda item: item.key)]

    def _items(self) -> list[SearchItem]:
        with _reachable():
            return self._store.search(self._namespace, limit=MOST)


def _stored(value: dict[str, Any]) -> Stored:
    note = Note.model_validate(value["note"])
    return Stored(note, unpacked(value["text"]), unpacked(note.look) if note.look else None)


def _key(place: int) -> str:
    return f"{place:08d}"


def _sqlite(path: Path, resources: contextlib.ExitStack) -> BaseStore:
    from langgraph.store.sqlite import SqliteStore

    try:
        connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        resources.callback(connection.close)
        store = SqliteStore(connection)
        store.setup()
    except sqlite3.Error as error:
        raise UsageError(f"{path} cannot be used ({error}): remove it, it is made again") from None
    return store


def _postgres(url: str, resources: contextlib.ExitStack) -> BaseStore:
    if not url.startswith(POSTGRES):
        raise UsageError("--memory-url: give postgresql://USER@HOST/DATABASE")
    try:
        from langgraph.store.postgres import PostgresStore
    except ImportError:
        raise UsageError(f"--memory-url needs the extra `postgres`: {INSTALL}") from None
    try:
        store: BaseStore = resources.enter_context(PostgresStore.from_conn_string(url))
        store.setup()  # type: ignore[attr-defined]
    except Exception as error:  # psycopg's own, which is there only with the extra
        told = " ".join(str(error).split())[:200].replace(url, "the URL")
        raise UsageError(f"--memory-url: Postgres cannot be used ({told}): check URL and server") from None
    return store
