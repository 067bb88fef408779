"""One run, read as far as a table asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from fieldmark.evals.metrics.by_skill import carried
from fieldmark.evals.metrics.kept_reading import read_traces
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.evals.metrics.reading import Read
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir

Key = tuple[str, int]


class Source:
    """A run under the name that its rows have, and its place in a study. `cells`: every task × epoch."""

    def __init__(
        self, name: str, folder: RunDir, arm: str | None = None, task_order: int | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self.arm = arm
        self.task_order = task_order

    @cached_property
    def config(self) -> dict[str, Any]:
        return self.folder.config()

    @cached_property
    def cells(self) -> list[Cell]:
        return cells(self.folder)

    @property
    def episodes(self) -> Iterator[tuple[Cell, EpisodeRecord]]:
        """Those that are there, in run order."""
        return ((cell, cell.record) for cell in self.cells if cell.record)

    @cached_property
    def traces(self) -> dict[Key, Read | None]:
        """What the figures need of each trace; None where it cannot be read."""
        return read_traces(self.folder, (record for _, record in self.episodes))

    @cached_property
    def skills_of(self) -> dict[str, list[str]] | None:
        """Tool → the skills of the run that carry it; None where run.json does not say."""
        carries = carried(self.config)
        if carries is None:
            return None
        tools = sorted({tool for names in carries.values() for tool in names})
        return {tool: sorted(skill for skill, names in carries.items() if tool in names) for tool in tools}

    @property
    def unfinished(self) -> tuple[int, int]:
        """Task × epoch without an episode, of how many."""
        return sum(cell.record is None for cell in self.cells), len(self.cells)
