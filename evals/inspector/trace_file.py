"""A trace that is read in parts: where each event stands in its file is kept, the events are not.

A page of a long trace parses what it shows. The first look goes through the whole file, one line at a time.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.inspector.timeline import Pairing, Step, Window, step, window
from fieldmark.trace import Event, parse_event

KEPT = 8
"""Traces of a run of which it is known where their events stand: some 170 bytes an event."""


class TraceFile:
    """The events of a trace in order, by their place from 0; a line that cannot be read is left out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets, self._end = array("q"), 0
        self._places: dict[str, array[int]] = {}
        self._of_seq: dict[int, int] = {}
        self._pairing = Pairing()
        self._steps: list[array[int]] = []
        self._number = array("q")
        self.read_on()

    def read_on(self) -> None:
        """Take in the lines that were added since; none where there is no file."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._end)
            while line := file.readline():
                event = _parsed(line)
                if event is None and not line.endswith(b"\n"):
                    return  # half of a line: it is read again when the rest is there
                if event is not None:
                    self._take(event, self._end)
                self._end += len(line)

    def _take(self, event: Event, offset: int) -> None:
        place = len(self._offsets)
        self._offsets.append(offset)
        self._places.setdefault(event.kind, array("q")).append(place)
        self._of_seq.setdefault(event.seq, place)
        number = self._pairing.number(event)
        if number > len(self._steps):
            self._steps.append(array("q"))
        self._steps[number - 1].append(place)
        self._number.append(number)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Event]:
        return self.at(range(len(self)))

    def at(self, places: Iterable[int], mark: bytes = b"") -> Iterator[Event]:
        """The events at these places, one at a time; with `mark`, those alone whose line holds it. UsageError
        when the file is another by now.
        """
        if not len(self):
            return
        with self._path.open("rb") as file:
            for place in places:
                file.seek(self._offsets[place])
                line = file.readline()
                if mark in line:
                    event = _parsed(line)
                    if event is None:
                        raise UsageError(f"{self._path} changed while it was read: load the page anew")
                    yield event

    def of(self, kind: str, mark: bytes = b"") -> Iterator[Event]:
        """The events of a kind, as `at`."""
        return self.at(self._places.get(kind, ()), mark)

    def back_from(self, place: int, kind: str) -> Iterator[Event]:
        """The events of a kind before a place, the last first."""
        return self.at(each for each in reversed(self._places.get(kind, array("q"))) if each < place)

    def place(self, seq: int) -> int | None:
        """Of the first event with this `seq`; None without one."""
        return self._of_seq.get(seq)

    def step_of(self, seq: int) -> int | None:
        """The number of the step that holds the event `seq`; None without such an event."""
        place = self.place(seq)
        return None if place is None else self._number[place]

    @property
    def steps(self) -> Steps:
        return Steps(self, self._steps)


class Steps(Sequence[Step]):
    """The steps of a trace, each made when it is asked for."""

    def __init__(self, trace: TraceFile, places: list[array[int]]) -> None:
        self._trace, self._places = trace, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        if isinstance(index, int):
            return self[index : index + 1 or None][0]
        numbers = range(len(self))[index]
        events = self._trace.at(place for number in numbers for place in self._places[number])
        return [step(number + 1, [next(events) for _ in self._places[number]]) for number in numbers]


class Traces:
    """The traces that were looked at last, read anew where they changed. Any thread may use it."""

    def __init__(self) -> None:
        self._read: OrderedDict[Path, tuple[tuple[int, int, int] | None, TraceFile]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path, *, growing: bool) -> TraceFile:
        """`growing`: a longer file is the same one with more lines, as that of a running episode."""
        with self._lock:
            known, state = self._read.pop(path, None), _state(path)
            if known is None or known[0] != state:
                longer = known and state and known[0] and state[0] == known[0][0] and state[2] > known[0][2]
                if known and longer and growing:
                    known[1].read_on()
                    known = (state, known[1])
                else:
                    known = (state, TraceFile(path))
            self._read[path] = known
            while len(self._read) > KEPT:
                self._read.popitem(last=False)
            return known[1]


def window_of(trace: TraceFile, number: int | None, seq: int | None) -> Window:
    """The window that begins at step `number`; with `seq`, the one that holds this event."""
    holding = None if seq is None else trace.step_of(seq) or 1
    return window(trace.steps, number=number, holding=holding)


def _state(path: Path) -> tuple[int, int, int] | None:
    """Which file it is, when it changed last (ns), its size."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _parsed(line: bytes) -> Event | None:
    try:
        row = jsonl.loads(line)
        return parse_event(row) if isinstance(row, dict) else None
    except (ValueError, RecursionError, ValidationError):
        return None
