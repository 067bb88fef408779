"""What runs in the host's worker processes: decoding pictures and searching indexes, under limits.

A picture is decoded on the host only here, so that a bomb or a decoder's bug costs one worker process.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway import decoded
from fieldmark.trace import Box, Contrast

if TYPE_CHECKING:
    from fieldmark.tools.pictures.images import Cut

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
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


def warm(index: str | None, registry: str | None, classifier: bool) -> None:
    """Load what the first look-up would otherwise wait for."""
    import fieldmark.tools.pictures.images  # noqa: F401

    if index:
        _index(index)
    if registry:
        _registry(registry)
    if classifier:
        from fieldmark.tools.vision import lite0

        lite0.load()


def nothing() -> None:
    """A job that is done as soon as its process has started."""


def shown_cut(
    room: tuple[int, int], path: str, box: Box | None, scale: float, media_type: str, rotate: float,
    contrast: Contrast, place: str,
) -> Cut:  # fmt: skip
    """As `cut`, for the eyes of a model: of at most so many bytes and pixels, else made smaller."""
    from fieldmark.tools.pictures.fitting import Room, cut_to_fit

    with decoded.pixels(path, place) as image:
        return cut_to_fit(
            image, box, Room(*room), scale=scale, media_type=media_type, rotate=rotate, contrast=contrast
        )


def cut(
    path: str, box: Box | None, scale: float, media_type: str, rotate: float, contrast: Contrast, place: str
) -> Cut:
    """A cut of the picture at `path`, whose pixels are kept in `place` (see `decoded`)."""
    from fieldmark.tools.pictures import images

    with decoded.pixels(path, place) as image:
        return images.cut_decoded(
            image, box, scale=scale, media_type=media_type, rotate=rotate, contrast=contrast
        )


def search(index: str | None, path: str, box: Box | None, limit: int, place: str) -> dict[str, Any]:
    """Reverse image search of the picture at `path` (or a box of it) in a local index."""
    if not index:
        raise ToolError("this run has no picture index", "unavailable")
    if box is None:
        query = Path(path).read_bytes()
    else:
        query = cut(path, box, 1.0, "image/png", 0.0, "none", place).data
    hits = _index(index).query(query, limit)
    return {"found": bool(hits), "hits": [hit.public() for hit in hits]}


def small_jpeg(path: str, box: Box | None) -> bytes:
    """The picture at `path`, or a box of it, small enough to be sent to a search engine."""
    from fieldmark.sandbox.gateway.search import pictures

    return pictures.small_jpeg(Path(path).read_bytes(), box)


def same_picture(path: str, box: Box | None, others: list[bytes]) -> list[bool | None]:
    """Which of these files are the picture at `path`, or that box of it."""
    from fieldmark.sandbox.gateway.search import pictures

    return pictures.same_as(Path(path).read_bytes(), box, others)


def same_view(view: bytes, other: bytes) -> bool:
    """Whether a file that a model was sent is the view, written anew or made smaller."""
    from fieldmark.sandbox.gateway import resampled

    return resampled.same_view(view, other)


def aircraft(registry: str | None, query: str) -> dict[str, Any]:
    """Look up an aircraft in the run's registry."""
    if not registry:
        raise ToolError("this run has no aircraft registry", "unavailable")
    found: dict[str, Any] = _registry(registry).lookup(query)
    return found


def classify(path: str, box: Box | None, limit: int, place: str) -> dict[str, Any]:
    """ImageNet classes of the picture at `path`, or of a box of it."""
    from fieldmark.tools.vision import classes

    if box is None:
        return classes.classify(Path(path).read_bytes(), limit)
    return classes.classify(cut(path, box, 1.0, "image/png", 0.0, "none", place).data, limit)


def look(path: str, place: str) -> bytes:
    """The global look of the picture at `path`, as float32: what notes are compared by."""
    from fieldmark.tools.image_index.features import look_of

    with decoded.pixels(path, place) as image:
        return look_of(image).tobytes()


def found_picture(index: str | None, reference: str) -> bytes:
    """A picture of the index, as a search hit names it: JPEG, sides up to 1024 px."""
    if not index:
        raise ToolError("this run has no picture index", "unavailable")
    data: bytes = _index(index).picture(reference)
    return data


@functools.cache
def _index(folder: str) -> Any:
    from fieldmark.tools.image_index.local_index import LocalIndex

    return LocalIndex.open(Path(folder))


@functools.cache
def _registry(path: str) -> Any:
    from fieldmark.tools.aircraft.db import AircraftDb

    return AircraftDb.open(Path(path))
