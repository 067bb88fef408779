"""The rows of a manifest in any of its formats, each with where it stands."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.brought import parquet
from fieldmark.evals.benchmarks.rows import Bad, decode, decode_lines

MAX_BYTES = 500 * 10**6
"""Of a manifest that is text."""
ITEM_ID = "(key of the item)"
LIST_NAME = "(key of the list)"
"""Keys for what a JSON manifest says by where an item stands."""


@dataclass(frozen=True)
class Manifest:
    """`rows`: (where, row with nested objects also under dotted keys). `keys`: all there are, in order.
    `pictures`: the folder of the pictures that the file itself held, which its rows name; None: it held none.
    """

    rows: list[tuple[str, dict[str, Any]]]
    keys: list[str]
    problems: list[str]
    pictures: Path | None = None


def read_manifest(path: Path) -> Manifest:
    """UsageError when the file is not of the format that its name says, or holds no rows."""
    problems: list[str] = []
    pictures: Path | None = None
    suffix = path.suffix.lower()
    if suffix != ".parquet" and path.stat().st_size > MAX_BYTES:
        raise UsageError(f"{path.name} is over {MAX_BYTES // 10**6} MB: name another file with --data")
    if suffix == ".jsonl":
        numbered, problems = decode_lines(path)
        rows = [(f"line {number}", row) for number, row in numbered]
    elif suffix == ".parquet":
        rows, pictures = parquet.read(path)
    else:
        rows = {".json": _json, ".csv": _csv}[suffix](path)
    flat = [(where, _flat(row)) for where, row in rows]
    keys = list(dict.fromkeys(key for _, row in flat for key in row))
    if not flat and not problems:
        raise UsageError(f"{path.name} holds no item: name another file with --data")
    return Manifest(flat, keys, problems, pictures)


def _json(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """A list of items; or an object that holds one list, a list for each split, or the items by their id."""
    raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        loaded = decode(b'{"all":' + raw + b"}")["all"]
    except Bad as bad:
        raise UsageError(f"{path.name}: {_line_of_fault(raw)}{bad}: correct it") from None
    items = list(_items(loaded))
    if not items or not all(isinstance(item, dict) for item in items):
        raise UsageError(f"{path.name} is no list of items (or object of such lists): name another file")
    return [(f"item {number}", item) for number, item in enumerate(items, 1)]


def _line_of_fault(raw: bytes) -> str:
    try:
        json.loads(raw)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: "
    except (ValueError, RecursionError):
        pass
    return ""


def _items(loaded: Any) -> Iterator[Any]:
    if isinstance(loaded, list):
        yield from loaded
    elif isinstance(loaded, dict):
        lists = {key: value for key, value in loaded.items() if _is_list_of_items(value)}
        for name, items in lists.items():
            yield from (({**item, LIST_NAME: name} if len(lists) > 1 else item) for item in items)
        if not lists and loaded and all(isinstance(value, dict) for value in loaded.values()):
            yield from ({**item, ITEM_ID: name} for name, item in loaded.items())


def _is_list_of_items(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _csv(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """With a header; a row's place is its last line, for a cell may hold line breaks."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8: save it as UTF-8") from None
    csv.field_size_limit(10**7)
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", strict=True)
    rows = []
    try:
        for row in reader:
            if "" in row:
                raise UsageError(
                    f"{path.name}: line {reader.line_num} has more cells than the header: correct it"
                )
            rows.append((f"line {reader.line_num}", row))
    except csv.Error as error:
        raise UsageError(f"{path.name}: line {reader.line_num}: {error}: correct it") from None
    return rows


def _flat(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"a": {"b": 1}}` has the keys `a` and `a.b`."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        flat[f"{prefix}{key}"] = value
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
    return flat
