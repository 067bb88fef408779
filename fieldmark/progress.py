"""What a person sees of a run while it goes on: done, correct, time left."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.study.place import Place

LINE_EVERY = 15.0
"""Seconds between two lines where there is no terminal to draw a bar on."""


class RunProgress:
    """A bar on a terminal; elsewhere a line now and then. Everything goes to stderr.

    The bar of a run that has a `place` in a study is that of the study.
    """

    def __init__(self, total: int, done: int = 0, correct: int = 0, place: Place | None = None) -> None:
        self._console = Console(stderr=True)
        self._place = place
        self._total, self._first, self._done = total, done, done
        self._correct, self._faults = correct, 0
        self._began = self._last_line = time.monotonic()
        self._bar = Progress(
            TextColumn(place.label if place else "episodes"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
            console=self._console, transient=True, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task(
            "", total=place.total if place else total, completed=self._of_all(), note=self._note()
        )

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._bar.stop()
        self.say(self._line())

    def say(self, message: str) -> None:
        """One line that stays."""
        self._console.print(message, highlight=False, markup=False, soft_wrap=True)

    def episode_done(self, record: EpisodeRecord) -> None:
        self._done += 1
        self._faults += record.status == "sandbox_error"
        self._show()

    def judged(self, verdict: Verdict) -> None:
        self._correct += verdict.label == "correct"
        self._show()

    def _show(self) -> None:
        self._bar.update(self._task, completed=self._of_all(), note=self._note())
        due = self._done < self._total and time.monotonic() - self._last_line > LINE_EVERY
        if self._bar.disable and due:
            self._last_line = time.monotonic()
            self.say(self._line())

    def _of_all(self) -> int:
        return self._done + (self._place.done if self._place else 0)

    def _note(self) -> str:
        faults = f", {self._faults} not the agent's fault" if self._faults else ""
        return f"{self._correct} correct{faults}"

    def _line(self) -> str:
        fresh = self._done - self._first
        spent = time.monotonic() - self._began
        left = (self._total - self._done) * spent / fresh if fresh else 0.0
        eta = f", about {left:.0f} s left" if self._total - self._done > 0 and fresh else ""
        line = f"{self._done}/{self._total} episodes, {self._note()}, {spent:.0f} s{eta}"
        if self._place is None:
            return line
        return f"{self._place.label}: {line}; {self._of_all()}/{self._place.total} of the study"
