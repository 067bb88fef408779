"""Finds the facts of each episode of a run, and with gold whether its answer was supported or lucky."""

from __future__ import annotations

from collections.abc import Mapping

from fieldmark.evals.facts.found import both_of
from fieldmark.evals.facts.stored import EpisodeFacts, stored_facts, with_verdicts
from fieldmark.records import PERSON, EpisodeRecord
from fieldmark.rundir import RunDir


class FactFinder:
    """For the episodes of one run; any thread may use it."""

    def __init__(self, folder: RunDir) -> None:
        self._folder = folder
        self._gold = folder.gold()
        self._questions = {str(row.get("id")): str(row.get("question") or "") for row in folder.tasks()}

    def find(self, record: EpisodeRecord) -> EpisodeFacts | None:
        """The facts without the verdict; None where no trace can be read, or it is a person's."""
        events = self._folder.events(record) if record.agent != PERSON else []
        if not events:
            return None
        question, gold = self._questions.get(record.id, ""), self._gold.get(record.id)
        return EpisodeFacts(*both_of(record, events, gold, question))

    def missing(self, stored: Mapping[tuple[str, int], EpisodeFacts]) -> list[EpisodeRecord]:
        """The episodes of which something can be found that is not stored; our own faults have no facts."""
        return [
            record
            for record in self._folder.episodes()
            if record.status != "sandbox_error"
            and ((facts := stored.get(record.key)) is None or (not facts.gold and record.id in self._gold))
        ]


def facts_of_run(folder: RunDir) -> dict[tuple[str, int], EpisodeFacts]:
    """Of each episode: as it was stored, else found now from its trace; nothing is written."""
    facts, finder = stored_facts(folder), FactFinder(folder)
    found = {record.key: now for record in finder.missing(facts) if (now := finder.find(record))}
    return facts | with_verdicts(folder, found)
