"""An aircraft registry in SQLite: look-up by mark or hex, with candidates for what may be a misreading."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.tools.registrations import Mark, key, marks, nation_of, normalised

FIELDS = (
    "registration",
    "icao24",
    "type",
    "manufacturer",
    "model",
    "operator",
    "built",
    "source",
    "date",
)
"""Columns of our sample CSV; `type` is an ICAO 8643 designator, `date` the day of the source's record."""

_MAX_CANDIDATES = 8
_SCHEMA = (
    f"CREATE TABLE aircraft (key TEXT NOT NULL, {', '.join(f'{name} TEXT' for name in FIELDS)})",
    "CREATE INDEX by_key ON aircraft (key)",
    "CREATE INDEX by_icao24 ON aircraft (icao24)",
)


def import_csv(source: Path, target: Path) -> int:
    """Make the SQLite file `target` from a CSV with the columns FIELDS; returns its number of records.

    UsageError names the file and line of a bad row. A target that exists is replaced at the end.
    """
    new = target.with_name(f".{target.name}.new")
    new.unlink(missing_ok=True)
    connection = sqlite3.connect(new)
    try:
        count = _fill(connection, _rows(source))
    except UsageError:
        new.unlink()
        raise
    finally:
        connection.close()
    new.replace(target)
    return count


class AircraftDb:
    """A registry, open for reading; any thread may use it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = Lock()

    @classmethod
    def open(cls, path: Path) -> AircraftDb:
        """From a CSV (read into memory) or a SQLite file made by `import_csv`. UsageError: neither."""
        if path.suffix == ".csv":
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            _fill(connection, _rows(path))
            return cls(connection)
        try:
            connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
            connection.execute("SELECT key FROM aircraft LIMIT 1")
        except sqlite3.Error as error:
            raise UsageError(
                f"{path}: not an aircraft registry ({error}): give a CSV or an imported file"
            ) from None
        return cls(connection)

    def lookup(self, query: str) -> dict[str, Any]:
        """`{"found", "records", "candidates", "nation"}` for a registration or a 24-bit hex address.

        `records`: rows as dicts of FIELDS, newest first; more than one is a conflict or a mark used again.
        `candidates`: `{"registration", "nation", "changed": [{"at","from","to"}], "record" or None}` of valid
        marks that differ by confusable characters, registered ones first; only those when there are records.
        """
        records = self._by_mark(key(query)) or self._by_hex(query)
        possible = [self._candidate(mark) for mark in marks(query) if mark.changed]
        if records:
            possible = [item for item in possible if item["record"]]
        possible.sort(key=lambda item: item["record"] is None)
        return {
            "found": bool(records),
            "records": records,
            "candidates": possible[:_MAX_CANDIDATES],
            "nation": _nation(query, records),
        }

    def _candidate(self, mark: Mark) -> dict[str, Any]:
        records = self._by_mark(key(mark.text))
        return {
            "registration": mark.text,
            "nation": mark.nation,
            "changed": [{"at": at, "from": read, "to": assumed} for at, read, assumed in mark.changed],
            "record": records[0] if records else None,
        }

    def _by_mark(self, mark: str) -> list[dict[str, Any]]:
        return self._select("key = ?", mark) if mark else []

    def _by_hex(self, query: str) -> list[dict[str, Any]]:
        address = query.strip().lower().removeprefix("0x")
        return self._select("icao24 = ?", address) if re.fullmatch(r"[0-9a-f]{6}", address) else []

    def _select(self, where: str, value: str) -> list[dict[str, Any]]:
        statement = f"SELECT {', '.join(FIELDS)} FROM aircraft WHERE {where} ORDER BY date DESC, rowid"
        with self._lock:
            rows = self._connection.execute(statement, (value,)).fetchall()
        return [dict(zip(FIELDS, row, strict=True)) for row in rows]


def _nation(query: str, records: list[dict[str, Any]]) -> str | None:
    spellings = [str(records[0]["registration"])] if records else []
    spellings += [mark.text for mark in marks(query)[:1]]
    return next((nation for text in spellings if (nation := nation_of(normalised(text)))), None)


def _fill(connection: sqlite3.Connection, rows: Iterable[tuple[str, ...]]) -> int:
    for statement in _SCHEMA:
        connection.execute(statement)
    places = ", ".join("?" * (len(FIELDS) + 1))
    count = connection.executemany(f"INSERT INTO aircraft VALUES ({places})", rows).rowcount
    connection.commit()
    return count


def _rows(path: Path) -> Iterator[tuple[str, ...]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in FIELDS if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(
                    f"{path}, line 1: missing columns {', '.join(missing)}; expected {','.join(FIELDS)}"
                )
            for row in reader:
                yield _row(row, f"{path}, line {reader.line_num}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: {error}") from None


def _row(row: dict[str, str | None], where: str) -> tuple[str, ...]:
    values = [(row[name] or "").strip() for name in FIELDS]
    if not key(values[0]):
        raise UsageError(f"{where}: registration is empty")
    values[1] = values[1].lower()
    return (key(values[0]), *values)
