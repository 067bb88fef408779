"""An aircraft registry: look-up by mark, 24-bit address or serial, with candidates for a misreading."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.tools.aircraft.importing import check_schema, load_csv
from fieldmark.tools.aircraft.query import Query
from fieldmark.tools.aircraft.record import FIELDS
from fieldmark.tools.reading.registrations import changes, folded, key, marks, nation_of

_MAX_CANDIDATES = 8
_MAX_CHANGES = 3
_MAX_RECORDS = 10
_MAX_READ = 200
_SELECT = (
    f"SELECT {', '.join(f'aircraft.{name}' for name in FIELDS[:-2])},"
    " coalesce(aircraft.source, import.name), coalesce(aircraft.date, import.date),"
    " designator.manufacturer, designator.model, designator.others"
    " FROM aircraft JOIN import ON import.id = aircraft.import"
    " LEFT JOIN designator ON designator.name = aircraft.type"
)

Row = dict[str, Any]


class AircraftDb:
    """A registry, open for reading; any thread may use it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = Lock()
        found = connection.execute("SELECT value FROM fact WHERE name = 'designators'").fetchone()
        self._naming = found[0] if found else None

    @classmethod
    def open(cls, path: Path) -> AircraftDb:
        """From a CSV (read into memory; every row must be good) or a file of `fieldmark registry import`.

        UsageError: neither.
        """
        if path.suffix == ".csv":
            connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            load_csv(path, connection)
            return cls(connection)
        if not path.is_file():
            raise UsageError(f"{path}: no such file")
        check_schema(path)
        uri = f"{path.resolve().as_uri()}?mode=ro"
        return cls(sqlite3.connect(uri, uri=True, check_same_thread=False))

    def lookup(self, query: str) -> dict[str, Any]:
        """`{"found", "records", "candidates", "nation"}` of a mark, a 24-bit address or a serial number.

        What the query is is tried in that order; `registration:`, `icao24:` or `serial:` before it says so.
        `records`: dicts of those FIELDS that are known, newest first; more than one is a conflict, a mark
        used again, or (serial) aircraft of several makers. Where a record has no model, its designator
        gives it: then `named_by` says whence, and `names` what else it covers.
        `candidates`: `{"registration", "nation", "changed": [{"at","from","to"}], "record" or None}` of marks
        that differ by confusable characters, registered ones first; only those when there are records.
        `computed`, where there is one: `{"registration", "icao24"}`, which of a US aircraft give each other.
        `more`, where there are: how many records are left out.
        """
        asked = Query.of(query)
        records = self._records(asked)
        reply: dict[str, Any] = {
            "found": bool(records),
            "records": records[:_MAX_RECORDS],
            "candidates": self._candidates(asked, bool(records)),
            "nation": asked.nation([record.get("registration", "") for record in records]),
        }
        if asked.computed:
            reply["computed"] = asked.computed
        if len(records) > _MAX_RECORDS:
            reply["more"] = len(records) - _MAX_RECORDS
        return reply

    def _records(self, asked: Query) -> list[Row]:
        found = self._by_mark(asked.mark) if asked.mark else []
        if asked.computed:
            mark = key(asked.computed["registration"])
            by_address = self._select("aircraft.icao24", asked.computed["icao24"])
            found += [row for row in by_address if _mark(row) in ("", mark)]
            found += self._by_mark(mark) if mark != asked.mark else []
        if not found and asked.address:
            found = self._select("aircraft.icao24", asked.address)
        if not found and asked.serial:
            found = self._select("aircraft.serial_key", asked.serial)
        unique = {tuple(row.items()): row for row in found}.values()
        return sorted(unique, key=lambda row: row.get("date", ""), reverse=True)

    def _by_mark(self, mark: str) -> list[Row]:
        return [row for row in self._select("aircraft.folded", folded(mark)) if _mark(row) == mark]

    def _candidates(self, asked: Query, found: bool) -> list[Row]:
        """Registered marks that fold to the same, then valid ones that are not registered."""
        if not asked.mark or not asked.is_mark:
            return []
        seen: dict[str, Row] = {}
        for record in self._select("aircraft.folded", folded(asked.mark)):
            mark = _mark(record)
            if mark != asked.mark and mark not in seen and len(mark) == len(asked.mark):
                seen[mark] = _candidate(asked.mark, record["registration"], record)
        registered = [row for row in seen.values() if len(row["changed"]) <= _MAX_CHANGES]
        registered.sort(key=lambda row: len(row["changed"]))
        valid = [mark for mark in marks(asked.mark) if mark.changed and key(mark.text) not in seen]
        possible = [] if found else [_candidate(asked.mark, mark.text, None) for mark in valid]
        return (registered + possible)[:_MAX_CANDIDATES]

    def _select(self, column: str, value: str) -> list[Row]:
        """Records as dicts, newest first."""
        statement = f"{_SELECT} WHERE {column} = ? LIMIT {_MAX_READ}"
        with self._lock:
            rows = self._connection.execute(statement, (value,)).fetchall()
        return sorted(map(self._record, rows), key=lambda row: row.get("date", ""), reverse=True)

    def _record(self, row: Sequence[str | None]) -> Row:
        record: Row = {name: value for name, value in zip(FIELDS, row, strict=False) if value}
        manufacturer, model, others = row[len(FIELDS) :]
        if "model" not in record and model:
            record["manufacturer"] = record.get("manufacturer") or manufacturer
            record |= {"model": model, "named_by": self._naming}
            record |= {"names": others} if others else {}
        return record


def _mark(record: Row) -> str:
    return key(record.get("registration", ""))


def _candidate(read: str, mark: str, record: Row | None) -> Row:
    changed = [{"at": at, "from": one, "to": other} for at, one, other in changes(read, mark.upper())]
    return {"registration": mark, "nation": nation_of(mark), "changed": changed, "record": record}
