"""What a run's memory did: what was noted, which episodes read notes, and how those did that read any.

Out of the traces and the log of the notes. No gold: of notes that hold some, only their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

from pydantic import BaseModel

from fieldmark import jsonl
from fieldmark.evals.facts.names import Names
from fieldmark.evals.facts.text import Text
from fieldmark.evals.metrics.abstention import abstains
from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Interval, Share, wilson
from fieldmark.memory.notes import Note, read_notes
from fieldmark.rundir import RunDir
from fieldmark.trace import Event, MemoryRead, MemoryState, MemoryWrite, NoteKind, ToolCall, ToolResult

Reading = Literal["read no note", "read notes", "answer stood in one"]
"""What an episode had of the memory; the last is part of the one before."""
READINGS: tuple[Reading, ...] = get_args(Reading)
REMEMBER = "remember"


@dataclass(frozen=True)
class MemoryTrace:
    """What one trace says: `read`, note → how it was come to; `taken`, the kinds of the notes it took;
    `refused`, calls of `remember` that failed; `files`, those that an agent of others began with.
    """

    read: Mapping[str, frozenset[str]]
    taken: Sequence[str]
    refused: int
    files: int = 0


class KindRow(BaseModel):
    """Notes of one kind. `taken` by episodes of this run; in its log `kept` of them and `over` taken over
    from another run; `read` of these by any episode. None: the log is not here.
    """

    kind: str
    taken: int
    kept: int | None
    over: int | None
    read: int | None


class ReadingRow(BaseModel):
    """Episodes that had this of the memory, of all; `correct` of those done, `interval` Wilson's."""

    what: Reading
    episodes: Share
    correct: Share
    interval: Interval | None


class MemoryFacts(BaseModel):
    """`lost`: notes taken in episodes that did not end `answered`; `withheld`: those that hold gold, None
    without the private part. `leased` and `recalled`: episodes with notes in the prompt, by asking.

    `each`: notes a reader read, on average. `ever_read`: notes of the log that any episode read; None where
    the log is not here. `rows` lack the last reading then.
    """

    mode: str
    kinds: list[KindRow]
    refused: int
    lost: int
    withheld: int | None
    leased: Share
    recalled: Share
    each: float | None
    ever_read: Share | None
    rows: list[ReadingRow]


def memory_in(events: Iterable[Event]) -> MemoryTrace:
    """One trace read for its notes."""
    read: dict[str, set[str]] = {}
    taken, calls, refused, files = [], set(), 0, 0
    for event in events:
        if isinstance(event, MemoryRead):
            for name in named(event):
                read.setdefault(name, set()).add(event.at)
        elif isinstance(event, MemoryWrite) and event.about:
            taken.append(event.about)
        elif isinstance(event, ToolCall) and event.name == REMEMBER:
            calls.add(event.call)
        elif isinstance(event, ToolResult) and event.call in calls:
            refused += not event.ok
        elif isinstance(event, MemoryState) and event.at == "lease":
            files = event.files
    return MemoryTrace({name: frozenset(ways) for name, ways in read.items()}, taken, refused, files)


def named(event: MemoryRead) -> list[str]:
    """Every note whose text was read, also where another with the same text was shown for it."""
    return [str(name) for hit in event.hits for name in (hit["note"], *hit.get("same", []))]


def reading_of(cell: Cell, trace: MemoryTrace, texts: Mapping[str, str], question: str) -> set[Reading]:
    """What an episode had of the memory: `texts` are those of the notes; files that it began with count as
    notes read. An answer that the question says already, or that says only that none is known, stands
    nowhere.
    """
    notes = list(trace.read)
    if not notes:
        return {"read notes"} if trace.files else {"read no note"}
    answer = (cell.record.answer if cell.record else None) or ""
    names = Names([] if abstains(answer) else [answer], question)
    stood = names and any(names.in_text(Text(texts[note])) for note in notes if note in texts)
    return {"read notes", "answer stood in one"} if stood else {"read notes"}


def memory_facts(
    run: RunDir, cells: Sequence[Cell], traces: Mapping[tuple[str, int], MemoryTrace | None]
) -> MemoryFacts | None:
    """None where the run has no memory. Episodes whose trace cannot be read count as not there."""
    told = run.config().get("memory")
    if not isinstance(told, dict):
        return None
    found = [
        (cell, trace)
        for cell in cells
        if cell.record and cell.record.status != "sandbox_error" and (trace := traces.get(cell.record.key))
    ]
    logged = run.memory_file.exists()
    notes = read_notes(run.memory_file)
    ever = {name for _, trace in found for name in trace.read}
    readers = [trace.read for _, trace in found if trace.read]
    return MemoryFacts(
        mode=str(told.get("mode", "?")),
        kinds=_kinds([trace for _, trace in found], notes if logged else None, ever),
        refused=sum(trace.refused for _, trace in found),
        lost=sum(len(trace.taken) for cell, trace in found if _lost(cell)),
        withheld=len(jsonl.read(run.memory_withheld_file).rows) if run.private.exists() else None,
        leased=_by_way(readers, "lease", len(found)),
        recalled=_by_way(readers, "recall", len(found)),
        each=fmean(map(len, readers)) if readers else None,
        ever_read=Share.of(sum(note.note in ever for note in notes), len(notes)) if logged else None,
        rows=_rows(run, found, {note.note: note.text for note in notes}, logged),
    )


def _lost(cell: Cell) -> bool:
    return cell.record is not None and cell.record.status != "answered"


def _by_way(readers: Sequence[Mapping[str, frozenset[str]]], way: str, episodes: int) -> Share:
    return Share.of(sum(any(way in ways for ways in read.values()) for read in readers), episodes)


def _kinds(traces: Sequence[MemoryTrace], notes: Sequence[Note] | None, ever: set[str]) -> list[KindRow]:
    taken = Counter(kind for trace in traces for kind in trace.taken)
    log = notes or []
    kept = Counter(note.kind for note in log if note.run is None)
    over = Counter(note.kind for note in log if note.run is not None)
    read = Counter(note.kind for note in log if note.note in ever)
    return [
        KindRow(
            kind=kind, taken=taken[kind],
            kept=None if notes is None else kept[kind],
            over=None if notes is None else over[kind],
            read=None if notes is None else read[kind],
        )
        for kind in get_args(NoteKind)
        if taken[kind] or kept[kind] or over[kind]
    ]  # fmt: skip


def _rows(
    run: RunDir, found: Sequence[tuple[Cell, MemoryTrace]], texts: Mapping[str, str], logged: bool
) -> list[ReadingRow]:
    questions = {str(row.get("id")): str(row.get("question") or "") for row in run.tasks()}
    had = [(cell, reading_of(cell, trace, texts, questions.get(cell.id, ""))) for cell, trace in found]
    return [
        _row(what, [cell for cell, readings in had if what in readings], len(had))
        for what in READINGS
        if logged or what != "answer stood in one"
    ]


def _row(what: Reading, cells: Sequence[Cell], episodes: int) -> ReadingRow:
    done = [cell for cell in cells if cell.outcome in DONE]
    correct = Share.of(sum(cell.outcome in CORRECT for cell in done), len(done))
    return ReadingRow(
        what=what, episodes=Share.of(len(cells), episodes), correct=correct, interval=wilson(correct)
    )
