"""One record of an aircraft as a source has it, and how its values are cleaned."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import NamedTuple

from fieldmark.tools.reading.registrations import folded, key

FIELDS = (
    "registration",
    "icao24",
    "serial",
    "type",
    "manufacturer",
    "model",
    "variant",
    "operator",
    "owner",
    "built",
    "source",
    "date",
)
"""What a record may hold, each a string, empty for unknown. `type` is an ICAO 8643 designator, `icao24` six
lower-case hex digits, `built` a year, `date` the ISO day on which the source said so."""

_HEX = re.compile(r"[0-9a-f]{6}")
_TYPE = re.compile(r"[A-Z][A-Z0-9]{1,3}")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_NO_ADDRESS = {"000000", "ffffff"}
_KNOWS = slice(3, 9)  # type to owner


class BadRow(ValueError):
    """A row that cannot be used; the message says why."""


class Record(NamedTuple):
    """FIELDS in their order. Empty `source` and `date` mean: those of the import."""

    registration: str = ""
    icao24: str = ""
    serial: str = ""
    type: str = ""
    manufacturer: str = ""
    model: str = ""
    variant: str = ""
    operator: str = ""
    owner: str = ""
    built: str = ""
    source: str = ""
    date: str = ""

    @property
    def says_nothing(self) -> bool:
        """It names an aircraft and tells nothing about it."""
        return not any(self[_KNOWS])


def row_of(record: Record) -> tuple[str | None, ...]:
    """The record as stored: folded mark, serial key, FIELDS; empty is NULL. BadRow: it names no aircraft."""
    mark = folded(record.registration)
    if not mark and not record.icao24:
        raise BadRow("neither a registration nor a 24-bit address")
    if len(mark) > 10:
        raise BadRow(f"{record.registration[:40]!r} is no registration")
    return (mark or None, key(record.serial) or None, *(value or None for value in record))


def address(text: str) -> str:
    """A 24-bit address in any case, or empty (also for 000000 and ffffff). BadRow: something else."""
    found = text.strip().lower().removeprefix("0x")
    if not found or found in _NO_ADDRESS:
        return ""
    if not _HEX.fullmatch(found):
        raise BadRow(f"{text[:40]!r} is no 24-bit address")
    return found


def designator(text: str) -> str:
    """A type designator in capitals; empty where the text is none."""
    found = text.strip().upper()
    return found if _TYPE.fullmatch(found) else ""


def year(text: str) -> str:
    """'2008', '2008-01-01' -> '2008'; empty where no year begins the text."""
    found = _YEAR.match(text.strip())
    return found.group() if found else ""


@lru_cache(maxsize=4096)
def day(text: str) -> str:
    """'20240131', '2024-01-31', '2024-01-31 10:00' -> '2024-01-31'; empty where it is no date."""
    digits = text.strip()[:10].replace("-", "").replace("/", "")
    try:
        return datetime.datetime.strptime(digits, "%Y%m%d").date().isoformat()
    except ValueError:
        return ""
