"""Where an export goes: a new folder or file, whole or not there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fieldmark.errors import UsageError


@contextmanager
def new(out: Path) -> Iterator[Path]:
    """A place beside `out` that becomes `out` when all went well. UsageError: it is there, or cannot be.

    The block makes it a folder or a file, or leaves nothing there: then there is no `out` either.
    """
    if out.exists():
        raise UsageError(f"{out} is there already: name a new one")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}: name another place") from None
    try:
        made = beside / out.name
        yield made
        if made.exists():
            made.replace(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
