"""Blobs: pictures and long texts, each stored once under the sha256 of its content."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

COMPRESS_OVER = 512
"""Texts over this many bytes are kept gzip-compressed; the name is still the sha256 of the plain text."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}
_SUFFIXES = (*_EXTENSIONS.values(), "txt.gz", "txt", "bin")


class BlobStore:
    """A folder of `<sha256>.<ext>` files; putting the same bytes twice writes nothing.

    `shared` is a folder of the same kind: a blob is one file for all stores that share it (hard links).
    """

    def __init__(self, folder: Path, shared: Path | None = None) -> None:
        self.folder = folder
        self.shared = shared

    def put(self, data: bytes, media_type: str) -> str:
        """Store bytes as they are; returns their sha256."""
        digest = hashlib.sha256(data).hexdigest()
        self._write(f"{digest}.{_EXTENSIONS.get(media_type, 'bin')}", data)
        return digest

    def put_text(self, text: str) -> str:
        """Store a text; returns the sha256 of its UTF-8 bytes."""
        data = text.encode("utf-8", "replace")
        digest = hashlib.sha256(data).hexdigest()
        if len(data) > COMPRESS_OVER:
            self._write(f"{digest}.txt.gz", lambda: gzip.compress(data, 6, mtime=0))
        else:
            self._write(f"{digest}.txt", data)
        return digest

    def adopt(self, name: str, data: bytes) -> None:
        """Store a file of another store under its own name. KeyError: it is not what its name says."""
        digest, _, suffix = name.partition(".")
        if not _DIGEST.fullmatch(digest) or suffix not in _SUFFIXES:
            raise KeyError(name)
        if hashlib.sha256(_plain(data, suffix)).hexdigest() != digest:
            raise KeyError(digest)
        self._write(name, data)

    def path(self, digest: str) -> Path:
        """Where a blob lies; KeyError when it is not there. A digest that is none is a name of no file."""
        if not _DIGEST.fullmatch(digest):  # it stands in traces, which strangers write
            raise KeyError(digest)
        for suffix in _SUFFIXES:
            path = self.folder / f"{digest}.{suffix}"
            if path.exists():
                return path
        raise KeyError(digest)

    def get(self, digest: str) -> bytes:
        """The plain bytes of a blob; KeyError when it is not there or is damaged. OSError: disk, rights."""
        path = self.path(digest)
        try:
            data = _plain(path.read_bytes(), path.suffix)
        except FileNotFoundError:
            raise KeyError(digest) from None
        if hashlib.sha256(data).hexdigest() != digest:  # altered, or a link to something else
            raise KeyError(digest)
        return data

    def get_text(self, digest: str) -> str:
        """The same as text; KeyError also when it is not UTF-8."""
        try:
            return self.get(digest).decode("utf-8")
        except UnicodeDecodeError:
            raise KeyError(digest) from None

    def _write(self, name: str, data: bytes | Callable[[], bytes]) -> None:
        path = self.folder / name
        if path.exists() or (self.shared and _linked(self.shared / name, path)):
            return
        temporary = self.folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
        temporary.write_bytes(data if isinstance(data, bytes) else data())
        temporary.replace(path)
        if self.shared:
            _linked(path, self.shared / name)


def _plain(data: bytes, suffix: str) -> bytes:
    """What a file of this ending holds. KeyError: it is damaged."""
    try:
        return gzip.decompress(data) if suffix.endswith("gz") else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KeyError(str(error)) from None


def _linked(there: Path, here: Path) -> bool:
    """Whether `here` is now the file `there`; False also where the disk knows no hard links."""
    try:
        here.hardlink_to(there)
    except FileExistsError:
        return True
    except OSError:
        return False
    return True
