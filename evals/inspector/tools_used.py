"""Which tools each episode called: the one filter that opens traces, and each of them only once."""

from __future__ import annotations

import threading

from fieldmark.evals.inspector.lines import rows_of
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
                    self._found[key] = frozenset(str(row.get("name")) for row in rows_of(path, "tool_call"))
                return self._found[key]
        except OSError:
            return frozenset()
