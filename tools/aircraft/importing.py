"""Registry files of several sources into one SQLite file, all or nothing; bad rows are counted, not fatal."""

from __future__ import annotations

import datetime
import fcntl
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.tools.aircraft import designators
from fieldmark.tools.aircraft.lines import Part, parts
from fieldmark.tools.aircraft.record import FIELDS, BadRow, row_of
from fieldmark.tools.aircraft.sources import FORMATS, SOURCE_NAMES, kind_of, records

SCHEMA_VERSION = 2
APPLICATION_ID = 0x464D4152  # 'FMAR'
_MAX_EXAMPLES = 5
_TABLES = (
    f"PRAGMA user_version = {SCHEMA_VERSION}",
    f"PRAGMA application_id = {APPLICATION_ID}",
    "CREATE TABLE import (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, format TEXT NOT NULL,"
    " date TEXT, records INTEGER, bad INTEGER, empty INTEGER, imported TEXT)",
    "CREATE TABLE designator (name TEXT PRIMARY KEY, manufacturer TEXT, model TEXT, others TEXT)",
    "CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    f"CREATE TABLE aircraft (import INTEGER NOT NULL, folded TEXT, serial_key TEXT,"
    f" {', '.join(f'{name} TEXT' for name in FIELDS)})",
)
_INDEXES = {"by_folded": "folded", "by_icao24": "icao24", "by_serial": "serial_key"}


@dataclass
class Imported:
    """What came of one source. `bad`: rows that could not be used; `empty`: they name an aircraft only."""

    name: str
    format: str
    file: str
    date: str
    records: int = 0
    bad: int = 0
    empty: int = 0
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)
    """The first bad rows: 'line 17: why'."""

    def refuse(self, line: int, why: BadRow) -> None:
        self.bad += 1
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append(f"line {line}: {why}")


@dataclass(frozen=True)
class Job:
    """A file to import, as which kind, called what, of which day."""

    part: Part
    kind: str
    name: str
    date: str
    models: Part | None = None


def import_sources(
    paths: Sequence[Path],
    target: Path,
    *,
    form: str | None = None,
    name: str | None = None,
    date: str | None = None,
) -> list[Imported]:
    """Import files, folders or zips into the SQLite file `target`; a source of the same name is replaced.

    `form` is one of FORMATS, `name` and `date` (ISO) stand for those of the files. `target` changes only when
    all went well. UsageError: an unknown or unreadable file, or one without a usable row.
    """
    jobs = [job for path in paths for job in _jobs(path, form, name, date)]
    twice = {job.name for job in jobs if sum(other.name == job.name for other in jobs) > 1}
    if twice:
        raise UsageError(
            f"two sources are called {', '.join(sorted(twice))}: import them one by one, with --source"
        )
    with replacing(target) as new, closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -65536")
        return fill(connection, jobs)


def load_csv(path: Path, connection: sqlite3.Connection) -> None:
    """A CSV of any of FORMATS into an empty database; rows without a date stay undated, for the file's says
    only when it was copied here. UsageError: its first bad row, or an unknown format.
    """
    done = fill(connection, [replace(job, date="") for job in _jobs(path, None, None, None)])
    problem = next((example for item in done for example in item.examples), None)
    if problem:
        raise UsageError(f"{path}, {problem}")


def fill(connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Imported]:
    """Run the jobs on an open database, which is made when it is empty."""
    connection.execute("BEGIN")
    if not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        for statement in _TABLES:
            connection.execute(statement)
    for index in _INDEXES:
        connection.execute(f"DROP INDEX IF EXISTS {index}")
    done = [_import(connection, job) for job in jobs]
    for index, column in _INDEXES.items():
        connection.execute(f"CREATE INDEX {index} ON aircraft ({column}) WHERE {column} IS NOT NULL")
    _name_types(connection)
    connection.execute("COMMIT")
    return done


def _import(connection: sqlite3.Connection, job: Job) -> Imported:
    started = time.perf_counter()
    report = Imported(job.name, job.kind, job.part.name, job.date)
    old = connection.execute("SELECT id FROM import WHERE name = ?", (job.name,)).fetchone()
    if old:
        connection.execute("DELETE FROM aircraft WHERE import = ?", old)
        connection.execute("DELETE FROM import WHERE id = ?", old)
    number = connection.execute(
        "INSERT INTO import (name, format, date) VALUES (?, ?, ?)", (job.name, job.kind, job.date)
    ).lastrowid
    places = ", ".join("?" * (len(FIELDS) + 2))
    connection.executemany(f"INSERT INTO aircraft VALUES ({number}, {places})", _rows(job, report))
    if not report.records:
        raise UsageError(_unusable(report))
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    connection.execute(
        "UPDATE import SET records = ?, bad = ?, empty = ?, imported = ? WHERE id = ?",
        (report.records, report.bad, report.empty, now, number),
    )
    report.seconds = time.perf_counter() - started
    return report


def _rows(job: Job, report: Imported) -> Iterator[tuple[str | None, ...]]:
    for line, item in records(job.part, job.kind, job.models):
        if isinstance(item, BadRow):
            report.refuse(line, item)
            continue
        try:
            row = row_of(item)
        except BadRow as error:
            report.refuse(line, error)
            continue
        if item.says_nothing:
            report.empty += 1
            continue
        report.records += 1
        yield row


def _unusable(report: Imported) -> str:
    why = f": {'; '.join(report.examples)}" if report.examples else ""
    return f"{report.file}: not one usable row as {report.format}{why}"


def _jobs(path: Path, form: str | None, name: str | None, date: str | None) -> list[Job]:
    """The files of a source that hold aircraft. Of a folder or zip all that are known, without DEREG."""
    found = parts(path)
    alone = len(found) == 1
    kinds = [(part, form if alone and form and form != "faa" else kind_of(part)) for part in found]
    chosen = [(part, kind) for part, kind in kinds if kind and kind != "faa-models" and _wanted(kind, form)]
    if not alone:
        chosen = [(part, kind) for part, kind in chosen if kind != "faa-deregistered"]
    if not chosen:
        if alone and kinds[0][1] == "faa-models":
            return []
        raise UsageError(f"{path}: none of the formats {', '.join(FORMATS)}: docs/registry.md shows them")
    jobs = []
    for part, kind in chosen:
        models = (
            _models(path, [other for other, what in kinds if what == "faa-models"]) if "faa" in kind else None
        )
        called = name or SOURCE_NAMES.get(kind, Path(part.name).name)
        jobs.append(Job(part, kind, called, date or part.date, models))
    return jobs


def _wanted(kind: str, form: str | None) -> bool:
    return form is None or kind == form or kind == f"{form}-deregistered"


def _models(path: Path, found: list[Part]) -> Part | None:
    """FAA's ACFTREF: of the same folder or zip, or beside the file."""
    if found or path.is_dir():
        return next(iter(found), None)
    beside = (file for file in path.parent.iterdir() if file.name.lower() == "acftref.txt")
    return next((part for file in beside for part in parts(file)), None)


def _name_types(connection: sqlite3.Connection) -> None:
    """Take the designators in, where the package is installed; else what an earlier import took in stays."""
    where = designators.source()
    if where is None:
        return
    connection.execute("DELETE FROM designator")
    connection.executemany("INSERT INTO designator VALUES (?, ?, ?, ?)", designators.table())
    connection.execute("INSERT OR REPLACE INTO fact VALUES ('designators', ?)", (where,))


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A copy of `target` beside it that takes its place at the end; one import at a time in a folder."""
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such folder")
    new = target.with_name(f".{target.name}.new")
    with _alone_in(target.parent):
        try:
            new.unlink(missing_ok=True)
            if target.exists():
                check_schema(target)
                shutil.copyfile(target, new)
            yield new
            new.replace(target)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{target}: cannot be written ({error})") from None
        finally:
            new.unlink(missing_ok=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(f"{folder}: another import is writing there: wait for it") from None
    finally:
        os.close(handle)


def check_schema(path: Path) -> None:
    """UsageError: not a registry that this version reads."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'aircraft'").fetchone()
    except sqlite3.Error as error:
        raise UsageError(
            f"{path}: not an aircraft registry ({error}): give a CSV or an imported file"
        ) from None
    if not known or version != SCHEMA_VERSION:
        raise UsageError(f"{path}: not an aircraft registry of this version: import its sources again")
