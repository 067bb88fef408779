"""What a run has spent, over all its sittings, and whether that is what it may."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from fieldmark.config import RunConfig
from fieldmark.prices import Costs
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.study.place import Place


class Spending:
    """Money and hours of a run. What earlier sittings spent is read from its folder.

    Money counts every attempt whose usage was reported, also those that broke through no fault of the agent:
    at least so much is spent. In a study the limits are those of all its runs together.
    """

    def __init__(self, config: RunConfig, costs: Costs, folder: RunDir, place: Place | None = None) -> None:
        self._elsewhere = (place.usd, place.hours) if place else (0.0, 0.0)
        self._max_cost, self._max_hours = config.max_cost, config.max_hours
        self._costs = costs
        self._began = time.monotonic()
        recorded, done = _recorded(folder), folder.episodes()
        # a killed run has not written run.json; episodes.jsonl does not have the attempts that broke
        self._usd = max(recorded.get("usd") or 0.0, sum(costs.at_least(record) for record in done))
        self._hours_before = max(recorded.get("hours") or 0.0, hours_of(done))

    def add(self, record: EpisodeRecord) -> None:
        """One attempt more is over."""
        self._usd += self._costs.at_least(record)

    @property
    def hours(self) -> float:
        return self._hours_before + (time.monotonic() - self._began) / 3600

    def over(self) -> tuple[str, str] | None:
        """What is used up, in a sentence, and the option that lets the run go on; None while nothing is."""
        usd, hours = self._usd + self._elsewhere[0], self.hours + self._elsewhere[1]
        if self._max_cost is not None and usd >= self._max_cost:
            why = f"--max-cost {self._max_cost:g} is reached: at least {usd:.4f} USD are spent"
            return why, "--max-cost USD"
        if self._max_hours is not None and hours >= self._max_hours:
            return (
                f"--max-hours {self._max_hours:g} is reached: {hours:.2f} h are spent",
                "--max-hours N",
            )
        return None

    def describe(self) -> dict[str, Any]:
        """For run.json. `usd` is None where no model of the run has a price."""
        usd = round(self._usd, 6) if any(self._costs.prices.values()) else None
        return {"usd": usd, "hours": round(self.hours, 4)}


def hours_of(records: Iterable[EpisodeRecord]) -> float:
    """Hours in which at least one of these episodes was under way."""
    total, end = 0.0, float("-inf")
    for begun, seconds in sorted((_seconds(record.started), record.seconds) for record in records):
        total += max(0.0, begun + seconds - max(begun, end))
        end = max(end, begun + seconds)
    return total / 3600


def _seconds(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0


def _recorded(folder: RunDir) -> dict[str, Any]:
    spent = folder.config().get("spent") if folder.run_json.exists() else None
    return spent if isinstance(spent, dict) else {}
