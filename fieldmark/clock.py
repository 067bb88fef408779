"""The time of day as run folders have it: UTC, ISO 8601 with a Z. Durations are of the monotonic clock."""

from __future__ import annotations

import datetime


def utc(moment: float | None = None, *, timespec: str = "seconds") -> str:
    """`moment`, in seconds since 1970, or now."""
    zone = datetime.UTC
    when = datetime.datetime.now(zone) if moment is None else datetime.datetime.fromtimestamp(moment, zone)
    return when.isoformat(timespec=timespec).replace("+00:00", "Z")


def seconds_of(told: str) -> float:
    """Seconds since 1970 of a moment as `utc` writes it; without a zone it is UTC. ValueError: not one."""
    when = datetime.datetime.fromisoformat(told)
    return (when if when.tzinfo else when.replace(tzinfo=datetime.UTC)).timestamp()
