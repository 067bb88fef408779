"""Finds, for each episode of a run, copies of its task picture, and with gold whether one gave it away."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from threading import Lock
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.evals.leaks.copies import copies_of
from fieldmark.evals.leaks.deciding import giveaway
from fieldmark.records import EpisodeRecord, Leak
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway import imaging
from fieldmark.sandbox.gateway.backends import kill_pool, new_pool
from fieldmark.sandbox.gateway.web.policy import Denied, Policy

TIMEOUT = 60.0
"""Seconds the pictures of one episode may take; then nothing is known of them."""


class LeakFinder:
    """For the episodes of one run; any thread may use it. Pictures are decoded in a worker process."""

    def __init__(self, folder: RunDir) -> None:
        self._folder = folder
        self._gold = folder.gold()
        self._images = {str(row.get("id")): row.get("image") for row in folder.tasks()}
        self._policy = Policy(guard=_guard(folder.config()))
        self._blobs = BlobStore(folder.blobs)
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()

    def find(self, record: EpisodeRecord) -> tuple[Leak, str | None]:
        """The public row of an episode and the private reason. What a trace holds of strangers' words and a
        damaged one may raise anything.
        """
        events = list(self._folder.trace(record))
        copies = copies_of(events, self._blobs, lambda paths: self._same(record.id, paths))
        gold = self._gold.get(record.id)
        found = giveaway(copies, gold, self._is_source) if gold else None
        leaked = found is not None if gold or not copies else None
        ways: list[str] = sorted({copy.way for copy in copies})
        leak = Leak(id=record.id, epoch=record.epoch, copied=bool(copies), leaked=leaked, ways=ways)
        return leak, found.reason if found else None

    def close(self) -> None:
        """End the worker process, whatever it does."""
        with self._lock:
            if self._pool:
                kill_pool(self._pool)
            self._pool = None

    def _same(self, task_id: str, paths: Sequence[Path]) -> Sequence[bool | None]:
        unknown: list[bool | None] = [None] * len(paths)
        image = self._images.get(task_id)
        try:
            original = self._blobs.path(str(image["blob"]) if isinstance(image, dict) else "")
            files = [path.read_bytes() for path in paths]
            job = self._worker().submit(imaging.same_picture, str(original), None, files)
            return job.result(TIMEOUT)
        except (TooLong, BrokenProcessPool, CancelledError):
            self.close()  # a picture that breaks its worker: of none of them is anything known
            return unknown
        except Exception:  # whatever a decoder raises of a file from the web
            return unknown

    def _worker(self) -> ProcessPoolExecutor:
        with self._lock:
            self._pool = self._pool or new_pool()
            return self._pool

    def _is_source(self, url: str) -> bool:
        try:
            self._policy.check(url)
        except Denied as denied:
            return denied.guarded
        return False


def leaks_of(folder: RunDir) -> dict[tuple[str, int], Leak]:
    """What is known of each episode: as it was stored, else found now from its trace; nothing is written."""
    leaks = folder.leaks()
    missing = [r for r in folder.episodes() if r.key not in leaks and r.status != "sandbox_error"]
    finder = LeakFinder(folder)
    try:
        for record in missing:
            with contextlib.suppress(Exception):  # what cannot be read is not known
                leaks[record.key] = finder.find(record)[0]
    finally:
        finder.close()
    return leaks


def _guard(config: dict[str, Any]) -> list[str]:
    """The hosts of source datasets, as run.json has them."""
    parts = (config.get("benchmark"), config.get("web"))
    lists = [
        part["guard"] for part in parts if isinstance(part, dict) and isinstance(part.get("guard"), list)
    ]
    return [str(pattern) for pattern in lists[0]] if lists else []
