"""Episodes judged, searched for leaks and read for facts while their run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from fieldmark.evals.facts.stored import stored_facts
from fieldmark.evals.judges import Judge
from fieldmark.facts import FactFinder
from fieldmark.judging.episodes import EpisodeJudge
from fieldmark.leaks import LeakFinder
from fieldmark.progress import RunProgress
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.staging import StagedTask


class Judging:
    """Judges beside the episodes: a judge that fails leaves an episode unjudged, never delayed or failed."""

    def __init__(self, folder: RunDir, judge: Judge, staged: list[StagedTask], progress: RunProgress) -> None:
        self._folder = folder
        self._judge = EpisodeJudge(judge, folder)
        self._tasks = {item.task.id: item.task for item in staged}
        self._progress = progress
        self._leaks = LeakFinder(folder)
        self._facts = FactFinder(folder)
        self._jobs: set[asyncio.Task[None]] = set()

    def catch_up(self, verdicts: dict[tuple[str, int], Verdict]) -> None:
        """Judge what an earlier, killed run committed but did not judge."""
        leaks = self._folder.leaks()
        for record in self._folder.episodes():
            if record.status == "sandbox_error":
                continue
            if record.key not in verdicts and record.id in self._tasks:
                self._start(self._one(record))
            if record.key not in leaks:
                self._start(self._leak(record))
        for record in self._facts.missing(stored_facts(self._folder)):
            self._start(self._fact(record))

    def begin(self, record: EpisodeRecord) -> None:
        """An episode that broke through no fault of the agent is not judged at all."""
        if record.status == "sandbox_error":
            return
        self._start(self._one(record))
        self._start(self._leak(record))
        self._start(self._fact(record))

    async def finish(self) -> None:
        await asyncio.gather(*self._jobs)

    def close(self) -> None:
        self._leaks.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        job = asyncio.create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _leak(self, record: EpisodeRecord) -> None:
        """Copies of the task picture that the agent came upon; what fails is found again by the report."""
        try:
            self._folder.add_leak(*await asyncio.to_thread(self._leaks.find, record))
        except Exception as error:  # a trace holds the words of strangers: whatever they do, the run goes on
            self._progress.say(f"episode {record.id}: copies of its picture stay unknown: {error}"[:300])

    async def _fact(self, record: EpisodeRecord) -> None:
        """What its trace shows; what fails is found again by the report."""
        try:
            found = await asyncio.to_thread(self._facts.find, record)
            if found:
                self._folder.add_facts(found.trace, found.gold)
        except Exception as error:  # a trace holds the words of strangers: whatever they do, the run goes on
            self._progress.say(f"episode {record.id}: its facts stay unknown: {error}"[:300])

    async def _one(self, record: EpisodeRecord) -> None:
        task = self._tasks[record.id]
        try:
            verdict = await asyncio.to_thread(self._judge.judge, task.question, task.gold, record)
        except Exception as error:  # a judge may be the user's own code: whatever it does, the run goes on
            if line := self._judge.complaint(record, error):
                self._progress.say(line)
            return
        self._progress.judged(verdict)
