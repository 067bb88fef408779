"""Lines and fields of registry files: any encoding, stray quotes, folders, zip and gzip."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from fieldmark.errors import UsageError

_MAX_JOINED = 4  # lines that one quoted field may run over
MAX_LINE = 1 << 20
"""Bytes of one line; a few kilobytes of zip can be gigabytes without a line end."""
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile)


@dataclass(frozen=True)
class Part:
    """A text file: on disk, or the member of a zip. `date` is the day of its last change, ISO."""

    name: str
    date: str
    opened: Callable[[], BinaryIO]

    def lines(self) -> Iterator[str]:
        """Its lines with their ends; UTF-8, or line by line Latin-1. UsageError: unreadable or cut short."""
        with self._read() as file:
            if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff"):
                yield from self._bounded(
                    io.TextIOWrapper(file, encoding="utf-16", errors="replace", newline="")
                )
                return
            first = True
            for raw in self._bounded(file):
                yield _text(raw.removeprefix(b"\xef\xbb\xbf") if first else raw)
                first = False

    def _bounded(self, file: Any) -> Iterator[Any]:
        while line := file.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise UsageError(f"{self.name}: a line of over {MAX_LINE:,} bytes: it is no registry")
            yield line

    @contextmanager
    def _read(self) -> Iterator[Any]:
        """A buffered reader of its bytes, unpacked."""
        try:
            with self.opened() as raw:
                file = io.BufferedReader(cast("io.RawIOBase", raw))
                if file.peek(2)[:2] == b"\x1f\x8b":
                    yield io.BufferedReader(gzip.GzipFile(fileobj=file))
                else:
                    yield file
        except _BROKEN as error:
            raise UsageError(f"{self.name}: cannot be read to its end ({error}): fetch it again") from None


def parts(path: Path) -> list[Part]:
    """The text files of a source: the file itself, those of a zip, or those of a folder. UsageError: none."""
    try:
        if path.is_dir():
            found = [_on_disk(file) for file in sorted(path.iterdir()) if file.is_file()]
        elif zipfile.is_zipfile(path):
            found = _members(path)
        else:
            found = [_on_disk(path)]
    except _BROKEN as error:
        raise UsageError(f"{path}: {error}") from None
    if not found:
        raise UsageError(f"{path}: no file in it")
    return found


def fields(
    lines: Iterator[str], delimiter: str, quote: str | None, width: int
) -> Iterator[tuple[int, list[str]]]:
    """(line number from 1, fields) of each line that is not blank; quote None: only `\\` escapes.

    A quote that is not closed costs its own line at most, or joins the next ones where that gives `width`
    fields; it never swallows the file.
    """
    number = 0
    for line in lines:
        number += 1
        if line.isspace() or not line:
            continue
        start = number
        if quote is not None and line.count(quote) % 2:
            found, used = _odd(line, lines, delimiter, quote, width)
            number += used
            for offset, row in found:
                yield start + offset, row
        elif "\\" in line and quote is None:
            yield (
                start,
                next(csv.reader((line,), delimiter=delimiter, quoting=csv.QUOTE_NONE, escapechar="\\")),
            )
        elif quote is not None and quote in line:
            yield start, split_quoted(line, delimiter, quote)
        else:
            yield start, line.rstrip("\r\n").split(delimiter)


def split_quoted(line: str, delimiter: str, quote: str) -> list[str]:
    """The fields of one record, which may hold line ends inside quotes."""
    return next(csv.reader(io.StringIO(line), delimiter=delimiter, quotechar=quote))


def _odd(
    line: str, lines: Iterator[str], delimiter: str, quote: str, width: int
) -> tuple[list[tuple[int, list[str]]], int]:
    """[(lines below the first, fields)] of a line with an odd number of quotes, and lines read beyond it."""
    alone = _alone(line, delimiter, quote, width)
    if len(alone) == width:
        return [(0, alone)], 0
    held = [line]
    while len(held) < _MAX_JOINED:
        more = next(lines, None)
        if more is None:
            break
        held.append(more)
        if more.count(quote) % 2 and len(joined := split_quoted("".join(held), delimiter, quote)) == width:
            return [(0, [" ".join(field.split()) for field in joined])], len(held) - 1
    rest = [(at, _alone(one, delimiter, quote, width)) for at, one in enumerate(held) if one.strip()]
    return rest, len(held) - 1


def _alone(line: str, delimiter: str, quote: str, width: int) -> list[str]:
    """One line by itself; where quotes are odd in it (an inch sign, an apostrophe) they may mean nothing."""
    if line.count(quote) % 2:
        plain = [field.strip(quote) for field in line.rstrip("\r\n").split(delimiter)]
        if len(plain) == width:
            return plain
    return split_quoted(line, delimiter, quote) if quote in line else line.rstrip("\r\n").split(delimiter)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _on_disk(path: Path) -> Part:
    day = datetime.datetime.fromtimestamp(path.stat().st_mtime).date().isoformat()
    return Part(str(path), day, lambda: path.open("rb", buffering=0))


def _members(path: Path) -> list[Part]:
    with zipfile.ZipFile(path) as archive:
        return [_member(path, info) for info in archive.infolist() if not info.is_dir()]


def _member(path: Path, info: zipfile.ZipInfo) -> Part:
    day = datetime.date(*info.date_time[:3]).isoformat()

    def opened() -> BinaryIO:
        return cast("BinaryIO", zipfile.ZipFile(path).open(info))

    return Part(f"{path}/{info.filename}", day, opened)
