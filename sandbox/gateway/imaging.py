"""What runs in the host's worker processes: decoding pictures and searching indexes, under limits.

A picture is decoded on the host only here, so that a bomb or a decoder's bug costs one worker process.
"""

from __future__ import annotations

import functools
import os
import resource
import time
from pathlib import Path
from typing import Any

from fieldmark.errors import ToolError
from fieldmark.trace import Box

MEMORY = 2 * 2**30
"""Bytes of private memory of a worker process (index vectors and OpenCV included)."""


def start() -> None:
    """Run once in each worker process: limit its memory, ignore Ctrl-C, end when the runner is gone.

    A worker holds both ends of its own queue, so it would wait for ever for a runner that was killed.
    """
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def warm(index: str | None, registry: str | None) -> None:
    """Load what the first look-up would otherwise wait for."""
    import fieldmark.tools.pictures.images  # noqa: F401

    if index:
        _index(index)
    if registry:
        _registry(registry)


def cut(path: str, box: Box | None, scale: float, media_type: str) -> tuple[bytes, Box, tuple[int, int]]:
    """A cut of the picture at `path`: its bytes, the box really used, and its (width, height)."""
    from fieldmark.tools.pictures import images

    return images.cut(_bytes(path), box, scale=scale, media_type=media_type)


def search(index: str | None, path: str, box: Box | None, limit: int) -> dict[str, Any]:
    """Reverse image search of the picture at `path` (or a box of it) in a local index."""
    if not index:
        raise ToolError("this run has no picture index", "unavailable")
    query = _bytes(path) if box is None else cut(path, box, 1.0, "image/png")[0]
    hits = _index(index).query(query, limit)
    return {"found": bool(hits), "hits": [hit.public() for hit in hits]}


def small_jpeg(path: str, box: Box | None) -> bytes:
    """The picture at `path`, or a box of it, small enough to be sent to a search engine."""
    from fieldmark.sandbox.gateway.search import pictures

    return pictures.small_jpeg(_bytes(path), box)


def same_picture(path: str, box: Box | None, others: list[bytes]) -> list[bool | None]:
    """Which of these files are the picture at `path`, or that box of it."""
    from fieldmark.sandbox.gateway.search import pictures

    return pictures.same_as(_bytes(path), box, others)


def aircraft(registry: str | None, query: str) -> dict[str, Any]:
    """Look up an aircraft in the run's registry."""
    if not registry:
        raise ToolError("this run has no aircraft registry", "unavailable")
    found: dict[str, Any] = _registry(registry).lookup(query)
    return found


def classify(path: str, box: Box | None, limit: int) -> dict[str, Any]:
    """ImageNet classes of the picture at `path`, or of a box of it."""
    from fieldmark.tools.vision import classes

    return classes.classify(_bytes(path) if box is None else cut(path, box, 1.0, "image/png")[0], limit)


def found_picture(index: str | None, reference: str) -> bytes:
    """A picture of the index, as a search hit names it: JPEG, sides up to 1024 px."""
    if not index:
        raise ToolError("this run has no picture index", "unavailable")
    data: bytes = _index(index).picture(reference)
    return data


@functools.lru_cache(maxsize=8)
def _bytes(path: str) -> bytes:
    return Path(path).read_bytes()


@functools.cache
def _index(folder: str) -> Any:
    from fieldmark.tools.image_index.local_index import LocalIndex

    return LocalIndex.open(Path(folder))


@functools.cache
def _registry(path: str) -> Any:
    from fieldmark.tools.aircraft.db import AircraftDb

    return AircraftDb.open(Path(path))
