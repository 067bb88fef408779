"""The SQLite file of a curation: its tables, their version, and how it is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fieldmark.errors import UsageError

FILE = "curate.sqlite"
VERSION = 2
_BUSY_MS = 30_000
"""How long a writer waits for another, such as a second annotator."""

_TABLES = """
CREATE TABLE candidates (
    id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, path TEXT NOT NULL, class TEXT NOT NULL,
    label TEXT NOT NULL, source TEXT NOT NULL, licence TEXT NOT NULL, provenance TEXT NOT NULL,
    exif TEXT NOT NULL, look BLOB NOT NULL
) STRICT;
CREATE INDEX by_class ON candidates (class);
CREATE TABLE origins (
    origin TEXT PRIMARY KEY, stamp TEXT NOT NULL, candidate TEXT REFERENCES candidates (id),
    class TEXT NOT NULL, licence TEXT NOT NULL, provenance TEXT NOT NULL, problem TEXT
) STRICT;
CREATE INDEX by_candidate ON origins (candidate);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY, candidate TEXT NOT NULL REFERENCES candidates (id), step TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('keep', 'drop', 'open')), why TEXT NOT NULL, who TEXT NOT NULL,
    at TEXT NOT NULL, settings_hash TEXT NOT NULL, evidence TEXT NOT NULL
) STRICT;
CREATE INDEX decided ON decisions (step, candidate, id);
CREATE TABLE answers (
    candidate TEXT NOT NULL REFERENCES candidates (id), step TEXT NOT NULL, model TEXT NOT NULL,
    judge TEXT NOT NULL, verdict TEXT NOT NULL, answer TEXT NOT NULL, run TEXT NOT NULL,
    asked TEXT NOT NULL,
    PRIMARY KEY (step, model, candidate)
) STRICT;
CREATE TABLE steps (
    id INTEGER PRIMARY KEY, step TEXT NOT NULL, settings_hash TEXT NOT NULL, settings TEXT NOT NULL,
    at TEXT NOT NULL, told TEXT NOT NULL
) STRICT;
"""
"""`origins`: each file or row that was read, and the candidate it became. `answers`: of models, in the
screens; `asked` is a hash of the question and of what the answer was judged by. `decisions` only grows: the
last of a candidate at a step is the one that holds.
"""


def connect(folder: Path, *, create: bool = False) -> sqlite3.Connection:
    """WAL, and every commit is on disk when it returns. UsageError: no project, or one of a later version."""
    path = folder / FILE
    if not path.exists() and not create:
        raise UsageError(f"{folder} is no curation: `fieldmark curate new {folder}` begins one")
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    try:
        database.execute("PRAGMA journal_mode = WAL")
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{path} cannot be read ({error}): restore it from a copy") from None
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    _make(database, path)
    return database


def _make(database: sqlite3.Connection, path: Path) -> None:
    """The tables, once: a kill between leaves all of them or none. Where they are, nobody waits."""
    if database.execute("PRAGMA user_version").fetchone() == (VERSION,):
        return
    database.execute("BEGIN IMMEDIATE")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in filter(str.strip, _TABLES.split(";")):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")
    if version not in (0, VERSION):
        raise UsageError(
            f"{path} has the form {version}, this fieldmark reads {VERSION}: take the fieldmark that wrote it"
        )
