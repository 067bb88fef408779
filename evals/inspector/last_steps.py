"""Where each episode ended, for the filter `at`. It opens traces, and each of them only once."""

from __future__ import annotations

import threading

from fieldmark.evals.metrics.acts import episode_acts
from fieldmark.evals.metrics.last_step import last_step
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir


class LastSteps:
    """A committed trace never changes, so what was found in one is kept. Any thread may use it."""

    def __init__(self, folder: RunDir) -> None:
        self._folder = folder
        self._found: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def of(self, record: EpisodeRecord) -> str:
        """As `last_step` says it, and as the report counts it."""
        key = (record.trace, record.started)
        with self._lock:
            if key not in self._found:
                events = [] if record.error else self._folder.events(record)
                self._found[key] = last_step(record, episode_acts(events) if events else None)
            return self._found[key]
