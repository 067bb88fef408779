"""What exports tell of an episode beside its conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from fieldmark.clock import seconds_of, utc
from fieldmark.evals.metrics.outcomes import Cell, cells, facets_of, labels_of
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from fieldmark.trace import Event, Picture


@dataclass(frozen=True)
class Told:
    """One episode. `gold` is None unless it is asked for and here; `events` are empty without a trace."""

    cell: Cell
    record: EpisodeRecord
    question: str
    labels: dict[str, str]
    image: Picture | None
    events: list[Event]
    gold: Gold | None

    def when(self, seconds: float) -> str:
        """UTC, ISO 8601, so many seconds after it began."""
        return utc(seconds_of(self.record.started) + seconds, timespec="milliseconds")

    def facts(self) -> dict[str, Any]:
        """What became of it; `gold` only where it is asked for."""
        record, verdict = self.record, self.cell.verdict
        told = record.model_dump(
            mode="json", exclude_none=True,
            include={"id", "epoch", "attempt", "status", "answer", "confidence", "rationale", "error",
                     "seconds", "charged_seconds", "started", "counts", "role_tokens"},
        )  # fmt: skip
        judged = verdict.model_dump(include={"label", "score", "finer", "judge"}) if verdict else None
        gold = {"gold": self.gold.model_dump(mode="json")} if self.gold else {}
        return {**told, "outcome": self.cell.outcome, "verdict": judged, "labels": self.labels, **gold}


def told(folder: RunDir, *, private: bool) -> Iterator[Told]:
    """Every episode that ended, in run order, one at a time."""
    gold = folder.gold() if private else {}
    tasks = {str(row.get("id")): row for row in folder.tasks()}
    for cell in cells(folder):
        if cell.record is None:
            continue
        row = tasks.get(cell.id, {})
        labels = facets_of(row.get("labels"))
        labels.update((str(name), value) for name, value in labels_of(row.get("labels")).items())
        yield Told(
            cell,
            cell.record,
            str(row.get("question") or ""),
            labels,
            _image(row.get("view") or row.get("image")),
            folder.events(cell.record),
            gold.get(cell.id),
        )


def _image(row: Any) -> Picture | None:
    try:
        return Picture.model_validate(row)
    except ValidationError:
        return None
