"""When a run stops by itself: the next episode would break like the last ones."""

from __future__ import annotations

from fieldmark.records import EpisodeRecord

OUTAGE_EPISODES = 3
OUTAGE_SECONDS = 60.0


class Outage:
    """Episodes in a row, over all players, that broke through the same fault which is not the agent's.

    After OUTAGE_EPISODES of them over OUTAGE_SECONDS the next would break alike.
    """

    def __init__(self) -> None:
        self.length = 0
        self.what = ""
        self._cause: tuple[str, str] | None = None
        self._began = 0.0

    def goes_on(self, record: EpisodeRecord, now: float) -> bool:
        """Take note of an episode that ended at `now` (seconds of the monotonic clock)."""
        error = record.error if record.status == "sandbox_error" else None
        cause = (error.boundary, error.kind) if error else None
        if cause != self._cause:
            self._cause, self.length, self._began = cause, 0, now - record.seconds
        if error is None:
            return False
        self.length += 1
        self.what = f"{error.boundary}: {error.message}"
        return self.length >= OUTAGE_EPISODES and now - self._began >= OUTAGE_SECONDS
