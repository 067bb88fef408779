"""Which tools each episode called: the one filter that opens traces, and each of them only once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir


class ToolsUsed:
    """A committed trace never changes, so what was found in one is kept. Any thread may use it."""

    def __init__(self, folder: RunDir) -> None:
        self._folder = folder
        self._found: dict[tuple[str, int, int], frozenset[str]] = {}
        self._lock = threading.Lock()

    def of(self, record: EpisodeRecord) -> frozenset[str]:
        """The names of the tools that an episode called; empty without a trace."""
        path = self._folder.trace_file(record)
        try:
            status = path.stat()
            key = (path.name, status.st_mtime_ns, status.st_size)
            with self._lock:
                if key not in self._found:
                    self._found[key] = frozenset(_called(path))
                return self._found[key]
        except OSError:
            return frozenset()


def _called(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for line in file:
            if b'"tool_call"' not in line:  # most lines need no parsing
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and row.get("kind") == "tool_call":
                yield str(row.get("name"))
