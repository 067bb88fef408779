"""The clock of an episode: wall time since the lease, and the part of it that the agent is charged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds of the monotonic clock since the lease.

    `charged` leaves out the time the gateway itself made the agent wait: retries, back-off, queues.
    Waits that overlap (parallel calls) are counted once.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """The lease begins now."""
        self._start = time.monotonic()
        self._waited = 0.0
        self._waiting = 0
        self._wait_began = 0.0

    @property
    def wall(self) -> float:
        return time.monotonic() - self._start

    @property
    def waited(self) -> float:
        running = self.wall - self._wait_began if self._waiting else 0.0
        return self._waited + running

    @property
    def charged(self) -> float:
        return max(0.0, self.wall - self.waited)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Time spent inside is the gateway's, not the agent's."""
        if not self._waiting:
            self._wait_began = self.wall
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._waited += self.wall - self._wait_began

    def forgive(self, seconds: float) -> None:
        """Take back seconds already spent (a try that failed through no fault of the agent)."""
        self._waited += min(seconds, self.charged)
