"""Decoded pictures, kept on disk: an agent cuts one picture many times, and decoding it is the slow part.

The runner holds a file without a name for each picture (`Decoded`), the worker processes fill and map it
(`pixels`). The kernel frees such a file when its last holder is gone, however that ended. A file is whole
when its head, written last, holds the size; until then whoever needs the picture decodes it, and writes the
same bytes to the same places: two writers, or one that is killed, do no harm.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

MOST_BYTES = 2 * 2**30
"""Of all kept pictures; the one that was not used for longest goes first."""
FREE_BYTES = 2 * 2**30
"""With less than this free on the disk of temporary files nothing is kept."""
_HEAD = struct.Struct("<QQ")  # width, height; then 4 bytes a pixel, the layout that Pillow can map
_STRIP = 128  # rows written at a time


@dataclass
class _Place:
    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    users: int = 0

    @property
    def name(self) -> str:
        """What other processes of this user open it by."""
        return f"/proc/{os.getpid()}/fd/{self.file.fileno()}"

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size


class Decoded:
    """The places of a run's decoded pictures, in order of use. For one thread."""

    def __init__(self, most: int = MOST_BYTES, free: int = FREE_BYTES) -> None:
        self._most = most
        self._free = free
        self._places: dict[str, _Place] = {}

    @contextlib.contextmanager
    def place(self, picture: str) -> Iterator[str]:
        """A name that a worker may open while this lasts; "" when nothing can be kept."""
        try:
            place = self._places.pop(picture, None) or self._new()
        except OSError:
            yield ""
            return
        self._places[picture] = place
        place.users += 1
        try:
            yield place.name
        finally:
            place.users -= 1
            self._shrink()

    def close(self) -> None:
        """Let all of them go."""
        for place in self._places.values():
            place.file.close()
        self._places.clear()

    def _new(self) -> _Place:
        place = _Place()
        disk = os.fstatvfs(place.file.fileno())
        if disk.f_bavail * disk.f_frsize < self._free:
            place.file.close()
            raise OSError("the disk of temporary files is nearly full")
        return place

    def _shrink(self) -> None:
        total = sum(place.size for place in self._places.values())
        for picture, place in list(self._places.items()):
            if total <= self._most:
                return
            if not place.users:
                total -= place.size
                self._places.pop(picture).file.close()


_writer: threading.Thread | None = None


@contextlib.contextmanager
def pixels(path: str, place: str) -> Iterator[Image.Image]:
    """The picture at `path`, upright: mapped from `place` (RGBX), else decoded (RGB) and, once the caller is
    through with it, written there in a thread. DataFault: it is unreadable.
    """
    from fieldmark.tools.pictures.images import open_upright

    global _writer
    if _writer:
        _writer.join()  # one decoded picture in memory at a time
        _writer = None
    kept = _mapped(place)
    if kept is not None:
        yield kept
        return
    image = open_upright(Path(path).read_bytes())
    file = _opened(place)
    try:
        yield image
    finally:
        if file:
            _writer = threading.Thread(target=_write, args=(image, file), daemon=True)
            _writer.start()


def _opened(place: str) -> IO[bytes] | None:
    try:
        return Path(place).open("r+b") if place else None
    except OSError:
        return None


def _mapped(place: str) -> Image.Image | None:
    from PIL import Image

    file = _opened(place)
    if file is None:
        return None
    with file:
        width, height = _HEAD.unpack(file.read(_HEAD.size).ljust(_HEAD.size, b"\0"))
        if not width:
            return None
        whole = mmap.mmap(file.fileno(), _HEAD.size + 4 * width * height, access=mmap.ACCESS_READ)
    view: Any = memoryview(whole)[_HEAD.size :]  # Pillow's types do not know that any buffer will do
    return Image.frombuffer("RGBX", (width, height), view, "raw", "RGBX", 0, 1)


def _write(image: Image.Image, file: IO[bytes]) -> None:
    """Fill a place; where the disk is full it stays without a head."""
    with contextlib.suppress(OSError), file:
        file.seek(_HEAD.size)
        for top in range(0, image.height, _STRIP):
            strip = image.crop((0, top, image.width, min(top + _STRIP, image.height)))
            file.write(strip.tobytes("raw", "RGBX"))
        file.seek(0)  # which flushes
        file.write(_HEAD.pack(image.width, image.height))
