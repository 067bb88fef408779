"""The registry files we can read, each a stream of Records: FAA, OpenSky, tar1090-db, our own CSV.

A format is told by its header or, for tar1090-db, by its first lines. Columns are found by name without
regard to case, spaces or punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from fieldmark.errors import UsageError
from fieldmark.tools.aircraft.lines import Part, fields, split_quoted
from fieldmark.tools.aircraft.n_numbers import address_of
from fieldmark.tools.aircraft.record import BadRow, Record, address, day, designator, year

Row = Callable[[str], str]
"""The value of a column of one row by its folded name, stripped; empty where there is no such column."""
Item = tuple[int, Record | BadRow]
"""Line number, and its record or what is wrong with it."""

FORMATS = ("faa", "opensky", "tar1090", "fieldmark")
SOURCE_NAMES = {
    "faa": "FAA",
    "faa-deregistered": "FAA deregistered",
    "opensky": "OpenSky",
    "tar1090": "tar1090-db",
}
"""How an import is called where `--source` does not say; our own CSV goes by its file name."""

_TAR1090 = re.compile(r"[0-9A-Fa-f]{6};[^;]*;[^;]*;")
_TAR1090_COLUMNS = ("icao24", "registration", "type", "flags", "model", "built", "operator")
_INDIVIDUALS = {"1", "4"}  # TYPE REGISTRANT: a person, co-owners
_ALIASES = {"asof": "date", "hex": "icao24", "typecode": "type", "designator": "type", "msn": "serial"}


@dataclass(frozen=True)
class Header:
    """Names of columns, folded ('MFR MDL CODE' -> 'mfrmdlcode'), and how the lines are to be split."""

    names: tuple[str, ...]
    delimiter: str = ","
    quote: str | None = '"'
    lines: int = 1


def kind_of(part: Part) -> str | None:
    """'faa', 'faa-deregistered', 'faa-models', 'opensky', 'tar1090', 'fieldmark', or None: unknown."""
    head = list(islice(part.lines(), 5))
    if any(_TAR1090.match(line) for line in head):
        return "tar1090"
    names = set(_header(part).names) if head else set()
    if {"nnumber", "mfrmdlcode"} <= names:
        return "faa-deregistered" if "canceldate" in names else "faa"
    if {"code", "mfr", "model"} <= names:
        return "faa-models"
    if "icao24" in names and names & {"manufacturericao", "manufacturername"}:
        return "opensky"
    return "fieldmark" if {_ALIASES.get(name, name) for name in names} & {"registration", "icao24"} else None


def records(part: Part, kind: str, models: Part | None = None) -> Iterator[Item]:
    """The rows of a file of that kind; `models` is FAA's ACFTREF. UsageError: a missing column."""
    if kind == "tar1090":
        header = Header(_TAR1090_COLUMNS, ";", None, 0)
        return _rows(part, header, _tar1090, least=5)
    header = _header(part)
    if kind == "opensky":
        return _rows(part, _with(header, part, "icao24"), _opensky)
    if kind == "fieldmark":
        names = tuple(_ALIASES.get(name, name) for name in header.names)
        header = Header(names, header.delimiter, header.quote)
        return _rows(part, header if "icao24" in names else _with(header, part, "registration"), _own)
    header = _with(Header(header.names, ","), part, "nnumber", "mfrmdlcode")
    reference = _models(models, part)
    return _rows(part, header, lambda row: _faa(row, reference))


def _header(part: Part) -> Header:
    line = next(part.lines(), "")
    quote = "'" if line.lstrip().startswith("'") else '"'
    delimiter = ";" if line.count(";") > line.count(",") else ","
    names = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in split_quoted(line, delimiter, quote)]
    while names and not names[-1]:
        names.pop()
    return Header(tuple(names), delimiter, quote)


def _with(header: Header, part: Part, *needed: str) -> Header:
    missing = [name for name in needed if name not in header.names]
    if missing:
        raise UsageError(f"{part.name}, line 1: no column {', '.join(missing)}: is it another format?")
    return header


def _rows(part: Part, header: Header, made: Callable[[Row], Record], least: int = 0) -> Iterator[Item]:
    width = len(header.names)
    places = {name: at for at, name in enumerate(header.names)}
    found: list[str] = []

    def value(name: str) -> str:
        at = places.get(name)
        return found[at].strip() if at is not None and at < len(found) else ""

    lines = part.lines()
    for _ in range(header.lines):
        next(lines, None)
    for number, found in fields(lines, header.delimiter, header.quote, width):
        try:
            _check(found, width, least or width)
            yield number + header.lines, made(value)
        except BadRow as error:
            yield number + header.lines, error


def _check(found: list[str], width: int, least: int) -> None:
    """Values that slid into other columns are worse than none."""
    if len(found) < least or (len(found) > width and any(map(str.strip, found[width:]))):
        raise BadRow(f"{len(found)} fields where {width} are expected")


def _faa(row: Row, models: Mapping[str, tuple[str, str]]) -> Record:
    mark = f"N{row('nnumber').upper().removeprefix('N')}"
    place = address_of(mark)
    if place is None:
        raise BadRow(f"{mark[:12]!r} is no N-number")
    manufacturer, model = models.get(row("mfrmdlcode"), ("", ""))
    return Record(
        registration=mark,
        icao24=address(row("modescodehex")) or f"{place:06x}",
        serial=row("serialnumber"),
        manufacturer=manufacturer or row("kitmfr"),
        model=model or row("kitmodel"),
        owner="" if row("typeregistrant") in _INDIVIDUALS else row("name"),
        built=year(row("yearmfr")),
        date=day(row("canceldate")),
    )


def _opensky(row: Row) -> Record:
    return Record(
        registration=row("registration"),
        icao24=address(row("icao24")),
        serial=row("serialnumber"),
        type=designator(row("typecode")),
        manufacturer=row("manufacturername") or row("manufacturericao"),
        model=row("model"),
        operator=row("operator"),
        owner=row("owner"),
        built=year(row("built")),
    )


def _tar1090(row: Row) -> Record:
    return Record(
        registration=row("registration"),
        icao24=address(row("icao24")),
        type=designator(row("type")),
        model=row("model"),
        operator=row("operator"),
        built=year(row("built")),
    )


def _own(row: Row) -> Record:
    """`type` may be a name instead of a designator: then it is the model."""
    designated = designator(row("type"))
    if row("date") and not day(row("date")):
        raise BadRow(f"{row('date')[:40]!r} is no date such as 2024-01-31")
    return Record(
        registration=row("registration"),
        icao24=address(row("icao24")),
        serial=row("serial"),
        type=designated,
        manufacturer=row("manufacturer"),
        model=row("model") or ("" if designated else row("type")),
        variant=row("variant"),
        operator=row("operator"),
        owner=row("owner"),
        built=row("built"),
        source=row("source"),
        date=day(row("date")),
    )


def _models(part: Part | None, master: Part) -> dict[str, tuple[str, str]]:
    """MFR MDL CODE -> manufacturer and model."""
    if part is None:
        raise UsageError(f"{master.name}: ACFTREF.txt, which names the models, must lie beside it")
    header = _with(_header(part), part, "code", "mfr", "model")
    found = {}
    for _, record in _rows(
        part, header, lambda row: Record(row("code"), manufacturer=row("mfr"), model=row("model"))
    ):
        if isinstance(record, Record):
            found[record.registration] = (record.manufacturer, record.model)
    return found
