"""Words in the results of tools. It opens traces, so it reads no more than a bounded part, and says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fieldmark.evals.inspector.lines import rows_of
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir

BYTES = 256 * 1024 * 1024
"""Of traces that one search reads."""
_KEPT = 8
"""Searches whose outcome is kept."""


@dataclass(frozen=True)
class Found:
    """`keys` (id, epoch) hold the words; `searched` of `of` traces were read. Less: the limit was met."""

    keys: frozenset[tuple[str, int]]
    searched: int
    of: int

    @property
    def stopped(self) -> bool:
        return self.searched < self.of


class ResultSearch:
    """A committed trace never changes, so what the last searches found is kept. Any thread may use it."""

    def __init__(self, folder: RunDir, most: int = BYTES) -> None:
        self._folder, self._most = folder, most
        self._done: dict[object, Found] = {}
        self._lock = threading.Lock()

    def find(self, records: Sequence[EpisodeRecord], text: str) -> Found:
        """The episodes with `text`, letters of any case, in a result, its data or its error."""
        asked = (text, tuple((record.key, record.attempt, record.started) for record in records))
        with self._lock:
            if asked not in self._done:
                self._done[asked] = self._search(records, text.casefold())
                self._done = dict(list(self._done.items())[-_KEPT:])
            return self._done[asked]

    def _search(self, records: Sequence[EpisodeRecord], text: str) -> Found:
        keys: set[tuple[str, int]] = set()
        read = 0
        for searched, record in enumerate(records):
            path = self._folder.trace_file(record)
            read += path.stat().st_size if path.is_file() else 0
            if read > self._most:
                return Found(frozenset(keys), searched, len(records))
            if path.is_file() and any(text in said.casefold() for said in _results(path)):
                keys.add(record.key)
        return Found(frozenset(keys), len(records), len(records))


def _results(path: Path) -> Iterator[str]:
    """What each result says."""
    for row in rows_of(path, "tool_result"):
        data = json.dumps(row.get("data"), ensure_ascii=False) if row.get("data") else ""
        yield "\n".join(str(part) for part in (row.get("text"), row.get("error"), data) if part)
