"""The one writer of a trace: stamps order and time, and knows the limits of what a sandbox may claim."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from fieldmark import jsonl
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.trace import By


class Tracer:
    """Appends events to a file, unbuffered, one `write()` each. OSError when the disk is full."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._file = path.open("wb", buffering=0)
        self._clock = clock
        self._seq = 0

    def write(self, by: By, kind: str, fields: dict[str, Any]) -> int:
        """Returns the event's `seq`. None values are left out."""
        seq, self._seq = self._seq, self._seq + 1
        row = {"seq": seq, "t": round(self._clock.wall, 4), "by": by, "kind": kind}
        row.update((key, value) for key, value in fields.items() if value is not None)
        line = jsonl.encode(row)
        written = self._file.write(line)
        if written != len(line):  # a nearly full disk takes part of a line: take it back
            self._file.truncate(self._file.seek(-written, os.SEEK_CUR))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return seq

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        self._file.close()
