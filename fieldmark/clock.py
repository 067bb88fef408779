"""The time of day as run folders have it: UTC, ISO 8601 with a Z. Durations are of the monotonic clock."""

from __future__ import annotations

import datetime


def utc(moment: float | None = None, *, timespec: str = "seconds") -> str:
    """`moment`, in seconds since 1970, or now."""
    zone = datetime.UTC
    when = datetime.datetime.now(zone) if moment is None else datetime.datetime.fromtimestamp(moment, zone)
    return when.isoformat(timespec=timespec).replace("+00:00", "Z")
