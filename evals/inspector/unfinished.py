"""Episodes that have a trace and no record: in flight while the run runs, or left behind by a kill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fieldmark.clock import utc
from fieldmark.rundir import RunDir


@dataclass(frozen=True)
class Unfinished:
    """`key` is its name in URLs, as it will be when it has ended; `last`: its last event, UTC to seconds."""

    id: str
    epoch: int
    key: str
    attempt: int
    trace: Path
    last: str


def unfinished(run: RunDir, left: Mapping[str, tuple[str, int]]) -> list[Unfinished]:
    """`left`: key → (id, epoch) of what has no record. The one that was written to last comes first."""
    found = []
    for key, (attempt, trace) in run.uncommitted(left).items():
        try:
            changed = trace.stat().st_mtime
        except OSError:  # committed meanwhile
            continue
        last = utc(changed)
        found.append(Unfinished(*left[key], key, attempt, trace, last))
    return sorted(found, key=lambda each: (each.last, each.key), reverse=True)
