"""JSON lines on disk: UTF-8, no NaN, one `write()` a line, torn tails told apart from bad lines."""

from __future__ import annotations

import codecs
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldmark.whole_file import flush_name, write_whole


def encode(row: Any) -> bytes:
    """One line with its newline. NaN and infinities become null; lone surrogates become '?'."""
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(finite(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def finite(value: Any) -> Any:
    """The same with None for each NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def append(path: Path, row: Any, *, durable: bool = True) -> None:
    """Append one row by a single `write()`, so that concurrent writers never interleave.

    What a kill left half-written becomes a bad line of its own: it takes no row with it.
    """
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        data = (b"\n" if torn else b"") + encode(row)
        written = os.write(fd, data)
        if written != len(data):  # a nearly full disk takes part of a line: take it back
            os.ftruncate(fd, os.fstat(fd).st_size - written)
            raise OSError(28, "No space left on device", str(path))
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    if durable and size == 0:
        flush_name(path)


def write_all(path: Path, rows: list[Any]) -> None:
    """Write a whole file of rows."""
    write_whole(path, (encode(row) for row in rows))


@dataclass
class Lines:
    """What a file held. `bad` are numbers (from 1) of unreadable lines; `torn` a half-written last one.

    `good_bytes` is the length of the file without its torn tail.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    bad: list[int] = field(default_factory=list)
    torn: bool = False
    good_bytes: int = 0


def read(path: Path) -> Lines:
    """Every readable row of a file; an absent file is an empty one. NaN and numbers beyond a float, which
    other writers leave, are read as None.
    """
    lines = Lines()
    if not path.exists():
        return lines
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            row = _decode(raw)
            if row is not None:
                lines.rows.append(row)
            elif not raw.endswith(b"\n"):
                lines.torn = True
                return lines
            elif raw.strip():
                lines.bad.append(number)
            lines.good_bytes += len(raw)
    return lines


def _decode(raw: bytes) -> dict[str, Any] | None:
    try:
        row = loads(raw)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def loads(raw: str | bytes) -> Any:
    """JSON in which NaN, an infinity and a number beyond a float, such as 1e999, are None."""
    if isinstance(raw, bytes):
        raw = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogatepass")
    return _DECODER.decode(raw)


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_number)
"""Made once: to make one takes longer than to read a line."""
