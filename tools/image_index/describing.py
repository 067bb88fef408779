"""Describing many picture files in a few processes: a file that breaks one is reported, the others go on."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING

from fieldmark.errors import DataFault

MEMORY = 2 * 2**30
"""Bytes of private memory of a process that decodes."""

_AHEAD = 8
"""Pictures given to each process ahead of time."""

if TYPE_CHECKING:
    from fieldmark.tools.image_index.store import Packed


def describe_files(paths: list[Path], processes: int) -> Iterator[Packed | str]:
    """For each file in order its features, or why it has none. `processes` 0: in this process."""
    if processes == 0 or not paths:
        yield from map(describe_file, paths)
        return
    rest = iter(paths)
    processes = min(processes, len(paths))
    pool = _pool(processes)
    waiting: deque[tuple[Path, Future[Packed | str]]] = deque()
    try:
        while True:
            for path in islice(rest, _AHEAD * processes - len(waiting)):
                waiting.append((path, _submit(pool, path)))
            if not waiting:
                return
            try:
                yield waiting[0][1].result()
                waiting.popleft()
            except BrokenProcessPool:
                yield from _one_by_one([path for path, _ in waiting])
                waiting.clear()
                pool = _pool(processes)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, path: Path) -> Future[Packed | str]:
    """As `pool.submit`; that a process died in the meantime comes out with the result."""
    try:
        return pool.submit(describe_file, path)
    except BrokenProcessPool as error:
        failed: Future[Packed | str] = Future()
        failed.set_exception(error)
        return failed


def describe_file(path: Path) -> Packed | str:
    """The features of a file, or why it has none."""
    from fieldmark.tools.image_index.features import describe
    from fieldmark.tools.image_index.store import pack

    try:
        return pack(describe(path.read_bytes()))
    except DataFault as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    except MemoryError:
        return "describing it takes too much memory: scale it down"
    except Exception as error:  # on garbage decoders raise almost anything
        return f"cannot be described ({' '.join(str(error).split()) or type(error).__name__})"


def _one_by_one(paths: list[Path]) -> Iterator[Packed | str]:
    """One at a time in one process: among several at work nobody knows which file broke it."""
    pool = _pool(1)
    for path in paths:
        try:
            yield pool.submit(describe_file, path).result()
        except BrokenProcessPool:
            yield "decoding it ends the process: convert it to JPEG or PNG"
            pool = _pool(1)
    pool.shutdown()


def _pool(processes: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes, mp_context=context, initializer=_start)


def _start() -> None:
    """Run once in each process: one thread, limited memory, no Ctrl-C, and an end when the parent's comes."""
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(0)
