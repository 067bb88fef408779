"""When a run stops because the next episode would break like the last ones."""

from __future__ import annotations

from typing import Any

from fieldmark.outage import Outage
from fieldmark.records import EpisodeRecord, Status
from fieldmark.trace import ErrorInfo


def record(kind: str | None, seconds: float = 20.0) -> EpisodeRecord:
    fields: dict[str, Any] = {"agent": "a", "model": "m", "started": "", "trace": "", "charged_seconds": 1.0}
    error = kind and ErrorInfo(boundary="model", kind=kind, message="down")
    status: Status = "sandbox_error" if kind else "answered"
    return EpisodeRecord(id="t", seconds=seconds, status=status, error=error or None, **fields)


def test_three_alike_over_a_minute_end_the_run() -> None:
    outage = Outage()
    said = [outage.goes_on(record("unreachable"), now) for now in (100.0, 130.0, 150.0, 190.0)]
    assert said == [False, False, True, True]
    assert (outage.length, outage.what) == (4, "model: down")


def test_many_at_the_same_moment_do_not() -> None:
    outage = Outage()
    assert not any(outage.goes_on(record("unreachable"), 100.0 + n / 10) for n in range(64))


def test_an_episode_that_works_or_breaks_otherwise_begins_the_count_anew() -> None:
    outage = Outage()
    kinds = ["unreachable", "unreachable", None, "unreachable", "waited", "unreachable", "unreachable"]
    assert not any(outage.goes_on(record(kind), 100.0 * n) for n, kind in enumerate(kinds))
