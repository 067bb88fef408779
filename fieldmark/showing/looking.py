"""All that a run folder says of one episode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.facts.stored import stored_facts
from fieldmark.evals.failures.current import current_failures
from fieldmark.findings import Failure, FailureReason, GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from fieldmark.trace import Event


@dataclass(frozen=True)
class Shown:
    """What is there; the last four rest on gold and are None when it is not to be shown, or is not here."""

    folder: RunDir
    task: dict[str, Any]
    record: EpisodeRecord
    verdict: Verdict | None
    failure: Failure | None
    facts: TraceFacts | None
    events: list[Event]
    gold: Gold | None = None
    reason: str | None = None
    why: FailureReason | None = None
    gold_facts: GoldFacts | None = None

    @property
    def cited(self) -> list[int]:
        """The `seq` of each event that shows the failure, those that gold found where it is shown."""
        found = [*(self.failure.events if self.failure else ()), *(self.why.events if self.why else ())]
        return sorted(set(found))


def look(folder: RunDir, record: EpisodeRecord, *, private: bool) -> Shown:
    """Everything of one episode. UsageError: its trace cannot be read."""
    key = record.key
    found = stored_facts(folder).get(key)
    verdict, failure = folder.verdicts().get(key), current_failures(folder).get(key)
    shown = Shown(
        folder=folder,
        task=next((row for row in folder.tasks() if str(row.get("id")) == record.id), {}),
        record=record,
        verdict=verdict,
        failure=failure,
        facts=found.trace if found else None,
        events=events_of(folder, record),
    )
    if not private:
        return shown
    return replace(
        shown,
        gold=folder.gold().get(record.id),
        reason=_reason(folder, verdict),
        why=folder.failure_reasons().get(key) if failure else None,
        gold_facts=found.gold if found else None,
    )


def events_of(folder: RunDir, record: EpisodeRecord) -> list[Event]:
    """The events of an episode; UsageError where there is no trace, or one of another make."""
    try:
        events = list(folder.trace(record))
    except (OSError, ValidationError) as error:
        why = " ".join(str(error).split())[:100]
        raise UsageError(f"{folder.traces / record.trace} cannot be read ({why}): restore it") from None
    if not events:
        raise UsageError(f"{folder.traces / record.trace} is missing or empty: restore it")
    return events


def _reason(folder: RunDir, verdict: Verdict | None) -> str | None:
    if verdict is None:
        return None
    rows = jsonl.read(folder.reasons_file).rows
    key = {"id": verdict.id, "epoch": verdict.epoch, "judge": verdict.judge}
    return next((str(row.get("reason")) for row in reversed(rows) if key.items() <= row.items()), None)
