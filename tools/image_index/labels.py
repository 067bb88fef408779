"""What is known of the pictures of a folder: from JSON lines, a table, or the folder's own shape."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from fieldmark.counting import counted
from fieldmark.errors import UsageError

LABELS = "index.jsonl"

_NAMES = {
    "file": ("file", "filename", "filepath", "path", "image", "imagepath", "picture"),
    "title": ("title", "caption", "text", "name"),
    "entity": ("entity", "label", "class", "classname", "category"),
    "page": ("page", "pageurl", "url", "link"),
    "source": ("source", "site", "origin"),
    "license": ("license", "licence"),
}
_PICTURES = frozenset(".jpg .jpeg .png .webp .gif .tif .tiff .bmp .avif .ppm .pgm .heic .heif".split())


@dataclass(frozen=True)
class Entry:
    """`file` is relative to the folder, with `/`; pictures of one `entity` give one hit."""

    file: str
    title: str
    entity: str
    page: str = ""
    source: str = ""
    license: str = ""


def read_entries(folder: Path, labels: Path | None = None) -> dict[str, Entry]:
    """File → entry, in order, from `labels`, else the folder's `index.jsonl`, else all pictures in it, each
    named after its sub-folder. UsageError: no pictures, or the first bad row with its line.
    """
    labels = labels or (folder / LABELS if (folder / LABELS).exists() else None)
    if labels is None:
        entries = {file: Entry(file, *_named(file)) for file in _pictures(folder)}
    else:
        entries = _read(labels)
    if not entries:
        raise UsageError(f"{labels or folder}: no pictures" + ("" if labels is None else " listed"))
    return entries


def _pictures(folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    for parent, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if Path(name).suffix.lower() in _PICTURES and not name.startswith("."):
                yield (Path(parent) / name).relative_to(folder).as_posix()


def _named(file: str) -> tuple[str, str]:
    """(title, entity) of a file without labels: its sub-folder's name, in the folder itself its own."""
    path = PurePosixPath(file)
    name = path.parent.name or path.stem
    return name, name


def _read(labels: Path) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    lines: dict[str, int] = {}
    for line, row in _rows(labels):
        entry = _entry(row, f"{labels}, line {line}")
        if entry.file in entries:
            raise UsageError(f"{labels}, line {line}: {entry.file} was already on line {lines[entry.file]}")
        entries[entry.file] = entry
        lines[entry.file] = line
    return entries


def _rows(labels: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, row) of JSON lines or of a table with a header, by what the file begins with."""
    try:
        text = labels.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{labels}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{labels}: not UTF-8 (byte {error.start}): save it as UTF-8") from None
    if text.lstrip().startswith("{"):
        yield from _json_rows(labels, text)
    else:
        yield from _table_rows(labels, text)


def _json_rows(labels: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{labels}, line {number}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise UsageError(f"{labels}, line {number}: not a JSON object")
        yield number, row


def _table_rows(labels: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """A TSV (where quotes mean nothing) or a CSV, told by its header."""
    lines = text.splitlines()
    if lines and "\t" in lines[0]:
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines)
    header = next(reader, [])
    if "file" not in map(_column, header):
        raise UsageError(f"{labels}, line 1: no column `file`: begin with a header")
    for cells in reader:
        if any(cell.strip() for cell in cells):
            if len(cells) > len(header):
                what = f"{counted(len(cells), 'field')} under a header of {len(header)}"
                raise UsageError(f"{labels}, line {reader.line_num}: {what}")
            yield reader.line_num, dict(zip(header, cells, strict=False))


def _entry(row: dict[str, Any], where: str) -> Entry:
    values: dict[str, str] = {}
    for name, value in row.items():
        column = _column(name)
        if column and column not in values and (text := _text(value, f"{where}: {name}")):
            values[column] = text
    file = _inside(values.pop("file", ""), where)
    title = values.pop("title", "") or values.get("entity") or _named(file)[0]
    entity = values.pop("entity", "") or title
    return Entry(file, title, entity, **values)


def _column(name: str) -> str | None:
    plain = "".join(char for char in name.lower() if char.isalnum())
    return next((column for column, names in _NAMES.items() if plain in names), None)


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int | float):
        return " ".join(str(value).split())
    raise UsageError(f"{where}: must be a text, not {type(value).__name__}")


def _inside(file: str, where: str) -> str:
    if not file:
        raise UsageError(f"{where}: no file is named")
    plain = os.path.normpath(file.replace("\\", "/"))
    if plain.startswith(("/", "../")) or plain in ("..", "."):
        raise UsageError(f"{where}: {file} lies outside the folder: name files relative to it")
    return plain
