"""A whole file: a reader, a kill, a full disk and a power cut find the old one or the new, never half."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, parts: bytes | Iterable[bytes]) -> None:
    """Through a neighbour `.<name>.new`, flushed and then renamed; what a kill left of one is written over.

    OSError: no room or no right; the old file stands as it was.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.writelines([parts] if isinstance(parts, bytes) else parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_name(path)


def flush_name(path: Path) -> None:
    """Flush the folder that a new or renamed file stands in: its content alone would survive a power cut
    under no name.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
