"""Building an index over a folder of pictures: only what is new or changed is described again.

    FOLDER/.fieldmark-index/
        pictures.sqlite   every picture with its features, committed while the build goes on
        arrays-<n>/       what a search maps into memory, made from it at the end

The store names its arrays, last of all: a reader finds the last finished build or none.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.tools.image_index.arrays import write_arrays
from fieldmark.tools.image_index.describing import describe_files
from fieldmark.tools.image_index.labels import Entry, read_entries
from fieldmark.tools.image_index.store import Stamp, Store

HOME = ".fieldmark-index"
STORE = "pictures.sqlite"
PROCESSES = 2
COMMIT_EVERY = 2.0
"""Seconds of work that a killed build may lose."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Built:
    """`pictures` can be searched; `described` were new or changed, `removed` are no longer listed.

    `problems`: (file, why) of each broken picture.
    """

    pictures: int
    described: int
    removed: int
    problems: list[tuple[str, str]]
    seconds: float


def build(
    folder: Path,
    labels: Path | None = None,
    home: Path | None = None,
    *,
    processes: int = PROCESSES,
    progress: Progress = lambda done, total: None,
) -> Built:
    """Make or renew the index of `folder` in `home` (default: in the folder); see `labels.read_entries`.

    `processes` 0 describes in this process, and waits for another build. `progress` gets the pictures done
    and to do. A broken picture stops nothing. UsageError: bad labels, no readable picture, nowhere to write,
    another build at work.
    """
    started = time.monotonic()
    home = home or folder / HOME
    entries = read_entries(folder, labels)
    with _alone_in(home, wait=processes == 0), closing(Store(home / STORE, writable=True)) as store:
        removed, fresh = _compare(folder, entries, store)
        _describe(folder, fresh, store, processes, progress)
        if not len(store):
            raise UsageError(_nothing(folder, store))
        if store.published is None or not store.published[2]:
            _publish(folder, home, store)
        problems = store.problems()
        seconds = time.monotonic() - started
        return Built(len(store), len(fresh) - len(problems), removed, problems, seconds)


def _compare(folder: Path, entries: dict[str, Entry], store: Store) -> tuple[int, list[tuple[Entry, Stamp]]]:
    """(how many were removed, what must be described); changed labels are taken over at once.

    What was broken is tried again: a decoder or a permission may have come.
    """
    known = {entry.file: (entry, stamp) for entry, stamp in store.entries()}
    gone = known.keys() - entries.keys()
    store.remove(gone)
    fresh = []
    for entry in entries.values():
        stamp = _stamp(folder / entry.file)
        old = known.get(entry.file)
        if old is None or old[1] != stamp:
            fresh.append((entry, stamp))
        elif old[0] != entry:
            store.label(entry)
    store.commit()
    return len(gone), fresh


def _stamp(path: Path) -> Stamp:
    try:
        stat = path.stat()
    except OSError:
        return Stamp(-1, 0)  # what is wrong is said when it is read
    return Stamp(stat.st_size, stat.st_mtime_ns)


def _describe(
    folder: Path, fresh: list[tuple[Entry, Stamp]], store: Store, processes: int, progress: Progress
) -> None:
    saved = time.monotonic()
    paths = [folder / entry.file for entry, _ in fresh]
    for done, ((entry, stamp), found) in enumerate(
        zip(fresh, describe_files(paths, processes), strict=True), 1
    ):
        store.add(entry, stamp, found)
        if time.monotonic() - saved > COMMIT_EVERY:
            store.commit()
            saved = time.monotonic()
        progress(done, len(fresh))
    store.commit()


def _publish(folder: Path, home: Path, store: Store) -> None:
    """Make the arrays under a new name and let the store name them: readers see the old ones or the new."""
    old = store.published
    arrays = home / f"arrays-{1 + int(old[0].rpartition('-')[2]) if old else 1}"
    shutil.rmtree(arrays, ignore_errors=True)
    write_arrays(arrays, len(store), store.rows)
    inside = home.resolve().is_relative_to(folder.resolve())
    store.publish(arrays.name, os.path.relpath(folder, home) if inside else str(folder.resolve()))
    for other in home.glob("arrays-*"):
        if other != arrays:
            shutil.rmtree(other, ignore_errors=True)


def _nothing(folder: Path, store: Store) -> str:
    file, why = store.problems()[0]
    return f"{folder}: no readable picture; the first: {file}: {why}"


@contextmanager
def _alone_in(home: Path, *, wait: bool) -> Iterator[None]:
    """One build at a time; with `wait` after the other, else UsageError."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        handle = os.open(home, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"{home}: {error.strerror}: name a writable folder with --out") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    except BlockingIOError:
        raise UsageError(f"{home}: another build is at work there: wait for it") from None
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"{home}: cannot be written ({error})") from None
    finally:
        os.close(handle)
