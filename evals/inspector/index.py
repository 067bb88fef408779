"""The index of one run: a row per episode, in memory, read anew when a file of the run has changed.

It rests on the JSON lines alone. Traces are opened only where a page or a filter asks for what is in them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.facts.found import judged
from fieldmark.evals.facts.stored import EpisodeFacts
from fieldmark.evals.failures.chain.current import current_breaks
from fieldmark.evals.failures.current import WRONG, current_failures
from fieldmark.evals.inspector.last_steps import LastSteps
from fieldmark.evals.inspector.search import ResultSearch
from fieldmark.evals.inspector.tools_used import ToolsUsed
from fieldmark.evals.inspector.trace_file import TraceFile, Traces
from fieldmark.evals.inspector.unfinished import Unfinished, unfinished
from fieldmark.evals.metrics.accuracy import AccuracyRow, overall
from fieldmark.evals.metrics.caveats import damage
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.evals.metrics.summary import RunFacts, run_facts
from fieldmark.findings import ChainBreak, Failure, FailureMark, GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir, episode_key
from fieldmark.task import Gold

Signature = tuple[tuple[int, int] | None, ...]
"""Time of the last change (ns) and size of each file; None where it is not there."""


@dataclass(frozen=True)
class EpisodeRow:
    """A finished episode and what the run folder says of it beside its trace. `broken`: the first broken
    link by Pix2Fact's scheme; `marks`: persons' words.
    """

    record: EpisodeRecord
    cell: Cell
    facts: EpisodeFacts | None
    failure: Failure | None
    broken: ChainBreak | None
    marks: tuple[FailureMark, ...]

    @cached_property
    def key(self) -> str:
        """Its name in URLs: that of its trace."""
        return episode_key(self.record.id, self.record.epoch)

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def epoch(self) -> int:
        return self.record.epoch

    @property
    def wrong(self) -> bool:
        """A completed episode whose answer is not correct."""
        return self.cell.outcome in WRONG


Opened = EpisodeRow | Unfinished
"""An episode that a page can be about: both have `id`, `epoch` and `key`."""


@dataclass(frozen=True)
class Snapshot:
    """A run as its files were at one moment. `rows` are in run order, `tasks` public rows by id; `left`: what
    has no record, key → (id, epoch); `damage`: lines of its files that cannot be read, a sentence each.
    """

    folder: RunDir
    config: dict[str, Any]
    about: RunFacts
    headline: AccuracyRow
    rows: list[EpisodeRow]
    tasks: dict[str, dict[str, Any]]
    planned: int
    left: dict[str, tuple[str, int]]
    damage: list[str]

    @cached_property
    def by_key(self) -> dict[str, EpisodeRow]:
        return {row.key: row for row in self.rows}

    @cached_property
    def gold(self) -> dict[str, Gold]:
        """By task id; empty when the private part is not there."""
        return self.folder.gold()

    @property
    def running(self) -> bool:
        """Whether a process is writing it now."""
        return self.about.state == "running" and self.folder.held()

    @property
    def state(self) -> str:
        """As run.json says it; a run that was killed could not write how it ended."""
        return "killed" if self.about.state == "running" and not self.running else self.about.state


class Index:
    """A run's snapshot, always that of its files as they are now. Any thread may use it."""

    def __init__(self, folder: RunDir) -> None:
        self.folder = folder
        self.tools = ToolsUsed(folder)
        self.last_steps = LastSteps(folder)
        self.results = ResultSearch(folder)
        self._traces = Traces()
        self._lock = threading.Lock()
        self._read: tuple[Signature, Snapshot] | None = None

    @property
    def started(self) -> str:
        """When the run began, UTC; "" when run.json cannot be read."""
        try:
            return str(self.folder.config().get("started") or "")
        except UsageError:
            return ""

    def snapshot(self) -> Snapshot:
        """Read anew only when a file has changed since. UsageError when the run cannot be opened."""
        with self._lock:
            signature = _signature(self.folder)
            if self._read is None or self._read[0] != signature:
                self._read = (signature, _snapshot(self.folder))
            return self._read[1]

    def unfinished(self) -> list[Unfinished]:
        """Its episodes that have a trace and no record, as they are now."""
        return unfinished(self.folder, self.snapshot().left)

    def opened(self, key: str) -> Opened | None:
        """The episode of this key, finished or not; None when there is none."""
        row = self.snapshot().by_key.get(key)
        return row or next((each for each in self.unfinished() if each.key == key), None)

    def trace(self, episode: Opened) -> TraceFile:
        """The events that can be read; a line of another make is left out. (Figures have no such trace.)"""
        if isinstance(episode, EpisodeRow):
            return self._traces.of(self.folder.trace_file(episode.record), growing=False)
        return self._traces.of(episode.trace, growing=True)


def _signature(run: RunDir) -> Signature:
    files = (
        run.run_json, run.tasks_file, run.episodes_file, run.verdicts_file, run.facts_file, run.failures_file,
        run.chain_breaks_file, run.gold_file, run.gold_facts_file, run.failure_marks_file,
    )  # fmt: skip
    return tuple(_state(path) for path in files)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _snapshot(run: RunDir) -> Snapshot:
    config, grid = RunDir.open(run.path).config(), cells(run)
    facts, gold, failures = run.facts(), run.gold_facts(), current_failures(run, grid)
    broken = current_breaks(run, grid)
    marks: dict[tuple[str, int], tuple[FailureMark, ...]] = {}
    for mark in run.failure_marks():
        marks[mark.key] = (*marks.get(mark.key, ()), mark)
    rows = [
        EpisodeRow(
            cell.record,
            cell,
            _facts(cell, facts.get(key), gold.get(key)),
            failures.get(key),
            broken.get(key),
            marks.get(key, ()),
        )
        for cell in grid
        if cell.record and (key := cell.record.key)
    ]
    return Snapshot(
        folder=run,
        config=config,
        about=run_facts(run, config, grid),
        headline=overall(grid),
        rows=rows,
        tasks={str(row.get("id")): row for row in run.tasks()},
        planned=len(grid),
        left={episode_key(cell.id, cell.epoch): (cell.id, cell.epoch) for cell in grid if not cell.record},
        damage=[*damage(run.tasks_file), *damage(run.episodes_file), *damage(run.verdicts_file)],
    )


def _facts(cell: Cell, trace: TraceFacts | None, gold: GoldFacts | None) -> EpisodeFacts | None:
    """With what rests on the verdict of now, as `stored_facts` has it."""
    return EpisodeFacts(trace, gold and judged(gold, trace, cell.verdict)) if trace else None
