"""`fieldmark.load`: the tables of one or several runs, each made when it is first asked for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel

from fieldmark.errors import UsageError
from fieldmark.evals.frames.calls import calls
from fieldmark.evals.frames.episodes import episodes, tasks
from fieldmark.evals.frames.findings import chain_breaks, facts, failures, verdicts
from fieldmark.evals.frames.frame import frame
from fieldmark.evals.frames.rows import (
    CallRow,
    ChainBreakRow,
    EpisodeRow,
    FactRow,
    FailureRow,
    TaskRow,
    VerdictRow,
)
from fieldmark.evals.frames.source import Source
from fieldmark.rundir import RunDir
from fieldmark.study.folder import StudyDir

if TYPE_CHECKING:
    from pandas import DataFrame


class Made(NamedTuple):
    """A table: what its rows are, and how they are read from one run."""

    row: type[BaseModel]
    read: Callable[[Source], Iterable[BaseModel]]


TABLES: dict[str, Made] = {
    "tasks": Made(TaskRow, tasks),
    "episodes": Made(EpisodeRow, episodes),
    "calls": Made(CallRow, calls),
    "verdicts": Made(VerdictRow, verdicts),
    "facts": Made(FactRow, facts),
    "failures": Made(FailureRow, failures),
    "chain_breaks": Made(ChainBreakRow, chain_breaks),
}


class Frames:
    """Runs as pandas data frames, one under the other, told apart by the column `run`.

    `docs/sql.md` lists the columns. A frame is made once, from what the folder held then.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)

    @cached_property
    def tasks(self) -> DataFrame:
        """One row per task, done or not."""
        return self._made("tasks")

    @cached_property
    def episodes(self) -> DataFrame:
        """One row per episode that ended."""
        return self._made("episodes")

    @cached_property
    def calls(self) -> DataFrame:
        """One row per tool call: the acts have the kind "act"."""
        return self._made("calls")

    @cached_property
    def verdicts(self) -> DataFrame:
        """One row per episode and judge; `current` are those that count."""
        return self._made("verdicts")

    @cached_property
    def facts(self) -> DataFrame:
        """One row per episode whose facts are stored."""
        return self._made("facts")

    @cached_property
    def failures(self) -> DataFrame:
        """One row per classified answer that is not correct."""
        return self._made("failures")

    @cached_property
    def chain_breaks(self) -> DataFrame:
        """One row per answer that is not correct and was placed by Pix2Fact's scheme."""
        return self._made("chain_breaks")

    def table(self, name: str) -> DataFrame:
        """The frame of that name in TABLES."""
        made: DataFrame = getattr(self, name)
        return made

    def empty(self, name: str) -> DataFrame:
        """A frame with its columns and no row; nothing is read for it."""
        return frame(TABLES[name].row, [])

    def __repr__(self) -> str:
        return f"Frames({', '.join(source.name for source in self.sources)}: {', '.join(TABLES)})"

    def _made(self, name: str) -> DataFrame:
        made = TABLES[name]
        return frame(made.row, [row for source in self.sources for row in made.read(source)])


def load(*runs: str | os.PathLike[str]) -> Frames:
    """The tables of these run folders; of a study, those of all its runs.

    UsageError: none is named, one twice, or one is neither.
    """
    found = [each for run in runs for each in _runs(run)]
    if not found:
        raise UsageError("no run folder is named, or none in a study has begun: load('runs/RUN')")
    names = [each.folder.path.resolve() for each in found]
    if len(set(names)) < len(names):
        raise UsageError("the same run folder is named twice: name each once")
    shared = Counter(path.name for path in names)
    return Frames(
        [
            Source(each.given if shared[path.name] > 1 else path.name, each.folder, each.arm, each.order)
            for path, each in zip(names, found, strict=True)
        ]
    )


class _Found(NamedTuple):
    """A run folder, the path by which it was named, and its place in a study."""

    given: str
    folder: RunDir
    arm: str | None = None
    order: int | None = None


def _runs(given: str | os.PathLike[str]) -> list[_Found]:
    study = StudyDir(Path(given))
    if not study.begun:
        return [_Found(str(given), RunDir.open(study.path))]
    return [
        _Found(str(folder.path), RunDir.open(folder.path), each.arm, each.order)
        for each, folder in study.begun_runs()
    ]
