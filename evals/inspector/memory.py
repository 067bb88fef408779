"""What an episode read of the notes of earlier ones, and what it left for later ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from fieldmark.counting import counted
from fieldmark.evals.inspector.trace_file import TraceFile
from fieldmark.trace import Event, MemoryRead, MemoryState, MemoryWrite


@dataclass(frozen=True)
class Remembered:
    """`what` was done, what the note or the query `said`, and the event `seq` that tells of it."""

    what: str
    said: str
    seq: int


def remembered(events: Iterable[Event]) -> list[Remembered]:
    """In order; empty where the episode had nothing to do with memory."""
    return [each for event in events for each in _of(event)]


def remembered_in(trace: TraceFile) -> list[Remembered]:
    """The same; nothing else of the trace is parsed."""
    kinds = ("memory_read", "memory_write", "memory_state")
    return remembered(sorted(chain(*map(trace.of, kinds)), key=lambda event: event.seq))


def _of(event: Event) -> Iterator[Remembered]:
    seq = event.seq
    if isinstance(event, MemoryRead):
        told, lease = f"{counted(len(event.hits), 'note')} read", event.at == "lease"
        yield Remembered(
            f"{told} at the lease" if lease else f"{told} for", "" if lease else event.query, seq
        )
        for hit in event.hits:
            yield Remembered(f"read {hit.get('note', '?')}:", str(hit.get("text", "")), seq)
    elif isinstance(event, MemoryWrite):
        yield Remembered(f"wrote {event.note}:", event.text, seq)
    elif isinstance(event, MemoryState):
        when = "began with" if event.at == "lease" else "left"
        yield Remembered(f"{when} {counted(event.files, 'file')}, {counted(event.bytes, 'byte')}", "", seq)
