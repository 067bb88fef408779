"""The timeline of an episode: what was done, from when to when, and what ran beside what."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from fieldmark.trace import (
    EpisodeEnd,
    Event,
    Log,
    MemoryRead,
    ModelRequest,
    ModelResponse,
    ToolCall,
    ToolResult,
)

WINDOW = 200
"""Steps on a page: a long trace is shown in windows."""
LANES = 12
"""Rows of the picture of the timeline; what would need more shares the last one."""


@dataclass
class Step:
    """One thing that was done: a call with its result, or an event that stands alone.

    `number` counts from 1. `start` and `end` are seconds since the lease; `end` is None for a call whose
    result never came. `beside`: numbers of the tool calls that ran at the same time.
    """

    number: int
    events: list[Event]
    start: float
    end: float | None
    beside: list[int] = field(default_factory=list)
    lane: int = 0

    @property
    def first(self) -> Event:
        return self.events[0]

    @property
    def seconds(self) -> float | None:
        return None if self.end is None else max(0.0, self.end - self.start)

    @property
    def kind(self) -> str:
        """`model`, `tool` or the kind of its event."""
        if isinstance(self.first, ModelRequest | ModelResponse):
            return "model"
        return "tool" if isinstance(self.first, ToolCall | ToolResult) else self.first.kind

    @property
    def name(self) -> str:
        """What a person calls it."""
        first = self.first
        if isinstance(first, ToolCall):
            return first.name
        if isinstance(first, ModelRequest):
            plain = first.role == "agent" and first.purpose == "step"
            return f"model {first.call}" + ("" if plain else f" ({first.role}, {first.purpose})")
        return f"memory_read ({first.at})" if isinstance(first, MemoryRead) else first.kind

    @property
    def failed(self) -> bool:
        """Whether any of it went wrong."""
        return any(_failed(event) for event in self.events)

    def holds(self, seqs: Container[int]) -> bool:
        """Whether one of these events is in it."""
        return any(event.seq in seqs for event in self.events)


class Pairing:
    """Which step each event of a trace belongs to: a request with its response, a call with its result."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: dict[tuple[type[Event], str], int] = {}

    def number(self, event: Event) -> int:
        """Of its step; told in order, the first event of each step gets the next number."""
        asked = _asked(event)
        number = self._waiting.pop(asked, None) if asked else None
        if number is None:
            self._count += 1
            number = self._count
            if isinstance(event, ModelRequest | ToolCall):
                self._waiting[type(event), event.call] = number
        return number


def steps(events: Iterable[Event]) -> list[Step]:
    """Requests with their responses and calls with their results; in the order of their first events."""
    found: dict[int, list[Event]] = {}
    pairing = Pairing()
    for event in events:
        found.setdefault(pairing.number(event), []).append(event)
    return [step(number, together) for number, together in found.items()]


def step(number: int, events: list[Event]) -> Step:
    """Of these events, one or two."""
    first, last = events[0], events[-1]
    open_call = len(events) == 1 and isinstance(first, ModelRequest | ToolCall)
    return Step(number, events, first.t, None if open_call else max(first.t, last.t))


def _asked(event: Event) -> tuple[type[Event], str] | None:
    if isinstance(event, ModelResponse):
        return ModelRequest, event.call
    return (ToolCall, event.call) if isinstance(event, ToolResult) else None


def _failed(event: Event) -> bool:
    if isinstance(event, ToolResult):
        return not event.ok
    if isinstance(event, ModelResponse):
        return event.error is not None or event.http >= 400
    return (isinstance(event, Log) and event.level == "error") or (
        isinstance(event, EpisodeEnd) and event.error is not None
    )


@dataclass(frozen=True)
class Window:
    """A part of the timeline. `begin` and `end` are seconds, the scale of its bars; `first` is 0-based."""

    steps: Sequence[Step]
    first: int
    total: int
    begin: float
    end: float

    @property
    def previous(self) -> int | None:
        """The number of the step that the window before begins with; None when there is none."""
        return max(1, self.first - WINDOW + 1) if self.first else None

    @property
    def next(self) -> int | None:
        after = self.first + len(self.steps)
        return after + 1 if after < self.total else None

    @property
    def lanes(self) -> int:
        return max((step.lane for step in self.steps), default=0) + 1

    def at(self, second: float) -> float:
        """Where on the scale a moment lies, 0–100."""
        width = self.end - self.begin
        return min(100.0, max(0.0, 100 * (second - self.begin) / width)) if width > 0 else 0.0

    def width(self, step: Step) -> float:
        """How much of the scale a step takes, 0–100; one without a result lasts to the end."""
        return self.at(self.end if step.end is None else step.end) - self.at(step.start)


def window(found: Sequence[Step], *, number: int | None = None, holding: int | None = None) -> Window:
    """The window that begins at step `number`, or the one that holds step `holding`."""
    first = 0
    if holding is not None:
        first = (holding - 1) // WINDOW * WINDOW
    elif number is not None:
        first = min(max(0, number - 1), max(0, len(found) - 1))
    shown = found[first : first + WINDOW]
    begin = min((step.start for step in shown), default=0.0)
    end = max((step.start if step.end is None else step.end for step in shown), default=0.0)
    _lay_out(shown)
    return Window(shown, first, len(found), begin, end)


def _lay_out(shown: Sequence[Step]) -> None:
    """Give each step the first lane that is free, and tool calls those that they ran beside."""
    lanes: list[float] = []
    running: list[Step] = []
    for step in sorted(shown, key=lambda step: (step.start, step.number)):
        end = float("inf") if step.end is None else step.end
        free = next((lane for lane, until in enumerate(lanes) if until <= step.start), len(lanes))
        step.lane = min(free, LANES - 1)
        lanes[step.lane : step.lane + 1] = [end]
        running = [other for other in running if other.end is None or other.end > step.start]
        if step.kind == "tool":
            for other in running:
                other.beside.append(step.number)
                step.beside.append(other.number)
            running.append(step)
