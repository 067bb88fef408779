"""Rows of a CSV, JSONL or Parquet file: a picture and its class in each, whatever else is provenance."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.rows import Bad, decode
from fieldmark.evals.curation.sources.found import Found, spelled

SUFFIXES = (".csv", ".jsonl", ".parquet")
_USUAL = {
    "image": ("image", "file_name", "file", "path", "image_path", "filename", "img", "picture"),
    "label": ("label", "class", "class_name", "answer", "name", "category", "labels"),
    "licence": ("licence", "license"),
}
"""Field → names of columns that are taken for it, the surest first."""
_AT_ONCE = 64
"""Rows of a Parquet file, with their pictures, that are in memory at a time."""


def read(path: Path, root: Path | None = None) -> Iterator[Found]:
    """`root`: where named pictures lie (default: beside the file). UsageError: a row or column is missing."""
    root = root or path.parent
    read_rows = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}[path.suffix.lower()]
    columns: dict[str, str] = {}
    names = class_names(path) if path.suffix.lower() == ".parquet" else {}
    for where, row in read_rows(path):
        columns = columns or _columns(row, path)
        yield _found(f"{path.name}:{where}", row, columns, root, names)


def _found(
    where: str, row: dict[str, Any], columns: dict[str, str], root: Path, names: Mapping[str, Sequence[str]]
) -> Found:
    picture, told = _picture(row.get(columns["image"]), root, where)
    named = row.get(columns["label"])
    if columns["label"] in names and isinstance(named, int):
        named = names[columns["label"]][named]
    if named is None or not str(named).strip():
        raise UsageError(f"{where}: no {columns['label']}: give every row a class, or take it out")
    rest = {key: value for key, value in row.items() if key not in columns.values() and _is_plain(value)}
    licence = str(row.get(columns.get("licence", "")) or "")
    return Found(told or where, picture, str(named), spelled(str(named)), licence, rest)


def _columns(row: Mapping[str, Any], path: Path) -> dict[str, str]:
    by_name = {key.lower(): key for key in row}
    found = {
        field: next((by_name[name] for name in usual if name in by_name), "")
        for field, usual in _USUAL.items()
    }
    if lacking := [field for field in ("image", "label") if not found[field]]:
        raise UsageError(
            f"{path.name} has no column {' and '.join(lacking)} (it has {', '.join(row)}): name them so"
        )
    return {field: key for field, key in found.items() if key}


def _picture(value: Any, root: Path, where: str) -> tuple[Path | bytes, str]:
    """The picture and, where it is a file, its path under `root`."""
    if isinstance(value, Mapping) and value.get("bytes"):
        return bytes(value["bytes"]), ""
    if isinstance(value, bytes | bytearray):
        return bytes(value), ""
    name = value.get("path") if isinstance(value, Mapping) else value
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{where}: no picture: give its path beside the file")
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{where}: {name} leads out of {root}: lay the pictures beside the file")
    return path, name


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) and value != ""


def _csv(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            reader = csv.DictReader(file)
            for row in reader:
                yield f"line {reader.line_num}", row
        except (UnicodeDecodeError, csv.Error) as error:
            raise UsageError(f"{path.name} is no CSV in UTF-8 ({error}): save it as that") from None


def _jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield f"line {number}", decode(line.removeprefix(b"\xef\xbb\xbf"))
                except Bad as bad:
                    raise UsageError(f"{path.name}: line {number}: {bad}: correct it") from None


def _parquet(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Through a link with a plain name, for DuckDB reads `*` and `[` in a name as a pattern. The rows of one
    file keep their order.
    """
    import duckdb

    with TemporaryDirectory() as folder, duckdb.connect() as database:
        link = Path(folder) / "rows.parquet"
        link.symlink_to(path.resolve())
        try:
            found = database.execute("SELECT * FROM read_parquet(?)", [str(link)])
            names = [column[0] for column in found.description or []]
            number = 0
            while rows := found.fetchmany(_AT_ONCE):
                for row in rows:
                    number += 1
                    yield f"row {number}", dict(zip(names, row, strict=True))
        except duckdb.Error:
            raise UsageError(f"{path.name} is no parquet file, or a damaged one: save it again") from None


def class_names(path: Path) -> dict[str, list[str]]:
    """Column → names of its classes, from what the library `datasets` writes into a file's metadata."""
    import duckdb

    with TemporaryDirectory() as folder, duckdb.connect() as database:
        link = Path(folder) / "rows.parquet"
        link.symlink_to(path.resolve())
        try:
            rows = database.execute(
                "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'huggingface'",
                [str(link)],
            ).fetchall()
        except duckdb.Error:
            return {}
    features = json.loads(rows[0][0])["info"]["features"] if rows else {}
    return {
        key: each["names"] for key, each in features.items() if isinstance(each, dict) and "names" in each
    }
