"""What was read of the traces of a large run, kept from one command to the next in the user's cache.

`$XDG_CACHE_HOME/fieldmark/readings/<hash of the run folder's path>.jsonl`: a line that says which folder and
which code, then one for each trace. It is not in the run folder, so that whoever hands a run on hands on no
figures that its traces do not show. Nothing rests on it: what is missing, torn or old is read anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

import fieldmark
from fieldmark import jsonl
from fieldmark.evals.metrics.reading import Read, read_trace
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.user_cache import user_cache

WORTH = 500
"""Episodes from which on it is kept: fewer are read in half a second."""
LEFT_SECONDS = 3600.0
"""After which nobody is still writing a temporary file."""


class Trace(NamedTuple):
    """Which trace a reading is of: its file, and what of its episode's row is counted with it."""

    file: str
    size: int
    mtime_ns: int
    seconds: float
    charged_seconds: float


class Kept(NamedTuple):
    """A line. `read` is None where the trace cannot be read."""

    trace: Trace
    read: Read | None


_LINE: TypeAdapter[Kept] = TypeAdapter(Kept)


def read_traces(run: RunDir, records: Iterable[EpisodeRecord]) -> dict[tuple[str, int], Read | None]:
    """What the figures need of each trace; None where it is missing or cannot be read."""
    records = list(records)
    if len(records) < WORTH:
        return {record.key: read_trace(run, record) for record in records}
    file = _file(run.path)
    kept, found = dict(_lines(file)), {}
    there: dict[Trace, Read | None] = {}
    for record in records:
        trace = _trace(run, record)
        found[record.key] = read = kept[trace] if trace in kept else read_trace(run, record)
        if trace:
            there[trace] = read
    if new := there.keys() - kept.keys():
        with contextlib.suppress(OSError):  # no room, or no cache: the next command reads anew
            if kept and len(kept) <= 2 * len(there):
                _append(file, [Kept(trace, there[trace]) for trace in new])
            else:
                _write(file, run.path, [Kept(*line) for line in there.items()])
    return found


def _trace(run: RunDir, record: EpisodeRecord) -> Trace | None:
    path = run.trace_file(record)
    try:
        about = path.stat()
    except OSError:
        return None
    return Trace(path.name, about.st_size, about.st_mtime_ns, record.seconds, record.charged_seconds)


def _file(run: Path) -> Path:
    name = hashlib.sha256(os.fsencode(run.resolve())).hexdigest()[:32]
    return user_cache("readings") / f"{name}.jsonl"


def _lines(file: Path) -> Iterator[Kept]:
    """Those of this very code; none where the file is another's or not there."""
    with contextlib.suppress(OSError), file.open("rb") as lines:
        if _told(next(lines, b"")).get("code") != _code():
            return
        for line in lines:
            with contextlib.suppress(ValidationError):
                yield _LINE.validate_json(line)


def _told(line: bytes) -> dict[str, str]:
    """What a file's first line says: `folder` and `code`."""
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _append(file: Path, lines: list[Kept]) -> None:
    """In one write; what a kill left half-written becomes a line of its own."""
    with file.open("ab") as end:
        end.write(b"\n" + _encoded(lines))


def _write(file: Path, run: Path, lines: list[Kept]) -> None:
    """The whole file, without what is of other code or of traces that are gone."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _tidy(file.parent)
    own = file.with_suffix(f".{os.getpid()}.new")
    own.write_bytes(jsonl.encode({"folder": str(run.resolve()), "code": _code()}) + _encoded(lines))
    own.replace(file)


def _encoded(lines: list[Kept]) -> bytes:
    return b"".join(_LINE.dump_json(line) + b"\n" for line in lines if _is_same(line))


def _is_same(line: Kept) -> bool:
    """Whether it comes back as it is: JSON has no infinity and no lone surrogate."""
    try:
        return _LINE.validate_json(_LINE.dump_json(line)) == line
    except ValueError:
        return False


def _tidy(folder: Path) -> None:
    """Delete what is of run folders that are there no more, and what a kill left half-written."""
    for file in folder.iterdir():
        with contextlib.suppress(OSError), file.open("rb") as lines:
            told = _told(lines.readline())
            is_left = file.suffix == ".new" and time.time() - file.stat().st_mtime > LEFT_SECONDS
            if is_left or not Path(told.get("folder", "")).exists():
                file.unlink()


@cache
def _code() -> str:
    """A hash of all that reads and counts: what another version read is not taken for what this one reads."""
    home, digest = Path(fieldmark.__file__).parent, hashlib.sha256()
    for path in sorted([*home.glob("*.py"), *home.glob("evals/metrics/*.py")]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
