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
from fieldmark.evals.failures.current import WRONG, current_failures
from fieldmark.evals.inspector.last_steps import LastSteps
from fieldmark.evals.inspector.search import ResultSearch
from fieldmark.evals.inspector.tools_used import ToolsUsed
from fieldmark.evals.metrics.accuracy import AccuracyRow, overall
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.evals.metrics.summary import RunFacts, run_facts
from fieldmark.findings import Failure, FailureMark, GoldFacts, TraceFacts
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir, episode_key
from fieldmark.task import Gold

Signature = tuple[tuple[int, int] | None, ...]
"""Time of the last change (ns) and size of each file; None where it is not there."""


@dataclass(frozen=True)
class EpisodeRow:
    """A finished episode and what the run folder says of it beside its trace. `marks`: persons' words."""

    record: EpisodeRecord
    cell: Cell
    facts: EpisodeFacts | None
    failure: Failure | None
    marks: tuple[FailureMark, ...]

    @cached_property
    def key(self) -> str:
        """Its name in URLs: that of its trace."""
        return episode_key(self.record.id, self.record.epoch)

    @property
    def wrong(self) -> bool:
        """A completed episode whose answer is not correct."""
        return self.cell.outcome in WRONG


@dataclass(frozen=True)
class Snapshot:
    """A run as its files were at one moment. `rows` are in run order, `tasks` public rows by id."""

    folder: RunDir
    config: dict[str, Any]
    about: RunFacts
    headline: AccuracyRow
    rows: list[EpisodeRow]
    tasks: dict[str, dict[str, Any]]
    planned: int

    @cached_property
    def by_key(self) -> dict[str, EpisodeRow]:
        return {row.key: row for row in self.rows}

    @cached_property
    def gold(self) -> dict[str, Gold]:
        """By task id; empty when the private part is not there."""
        return self.folder.gold()

    @property
    def running(self) -> bool:
        return self.about.state == "running"


class Index:
    """A run's snapshot, always that of its files as they are now. Any thread may use it."""

    def __init__(self, folder: RunDir) -> None:
        self.folder = folder
        self.tools = ToolsUsed(folder)
        self.last_steps = LastSteps(folder)
        self.results = ResultSearch(folder)
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


def _signature(run: RunDir) -> Signature:
    files = (
        run.run_json, run.tasks_file, run.episodes_file, run.verdicts_file, run.facts_file, run.failures_file,
        run.gold_file, run.gold_facts_file, run.failure_marks_file,
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
    marks: dict[tuple[str, int], tuple[FailureMark, ...]] = {}
    for mark in run.failure_marks():
        marks[mark.key] = (*marks.get(mark.key, ()), mark)
    rows = [
        EpisodeRow(
            cell.record,
            cell,
            _facts(cell, facts.get(key), gold.get(key)),
            failures.get(key),
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
    )


def _facts(cell: Cell, trace: TraceFacts | None, gold: GoldFacts | None) -> EpisodeFacts | None:
    """With what rests on the verdict of now, as `stored_facts` has it."""
    return EpisodeFacts(trace, gold and judged(gold, trace, cell.verdict)) if trace else None
