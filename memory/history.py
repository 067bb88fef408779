"""What became of the notes of a run, out of its folder alone: who wrote, who read, what was answered then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.memory.notes import Note, digest, known_to, read_notes
from fieldmark.records import VerdictLabel
from fieldmark.rundir import RunDir
from fieldmark.trace import Event, MemoryRead


class Reader(BaseModel):
    """An episode that read a note: in its prompt (`lease`) or by asking (`recall`); what it answered then,
    and the notes it took itself, which may carry the first one on.
    """

    id: str
    epoch: int
    at: list[Literal["lease", "recall"]]
    score: float
    answer: str | None = None
    verdict: VerdictLabel | None = None
    took: list[str] = []


class NoteHistory(BaseModel):
    """A note and the episodes that read it, in the order in which these were committed."""

    note: Note
    read_by: list[Reader]


class MemoryHistory(BaseModel):
    """`withheld`: how many notes hold gold and were not kept; None where the private part is not here.

    `reads` are notes read in all, `episodes` those that read any.
    """

    mode: str
    notes: list[NoteHistory]
    withheld: int | None
    reads: int
    episodes: int


def history(run: RunDir) -> MemoryHistory:
    """Every note of a run and where it went. UsageError: the run had no memory."""
    notes = _notes(run)
    readers = _readers(run, notes)
    rows = [
        NoteHistory(note=note.model_copy(update={"look": None}), read_by=readers.get(note.note, []))
        for note in notes
    ]
    return MemoryHistory(
        mode=str(run.config().get("memory", {}).get("mode", "?")),
        notes=rows,
        withheld=len(withheld(run)) if run.private.exists() else None,
        reads=sum(len(row.read_by) for row in rows),
        episodes=len({(reader.id, reader.epoch) for row in rows for reader in row.read_by}),
    )


def readers_of(run: RunDir, places: Iterable[Path]) -> list[RunDir]:
    """Other runs with a memory: these, or those in these folders and studies. UsageError: none is there."""
    found: dict[Path, RunDir] = {}
    for place in places:
        folders = (
            [place]
            if (place / "run.json").exists()
            else sorted([*place.glob("*/run.json"), *place.glob("*/*/run.json")])
        )
        if not folders:
            raise UsageError(f"no run in {place}: name a run folder, or a folder of run folders")
        for folder in folders:
            other = RunDir.open(folder.parent if folder.name == "run.json" else folder)
            if other.memory_file.exists() and other.path.resolve() != run.path.resolve():
                found[other.path.resolve()] = other
    return list(found.values())


def withheld(run: RunDir) -> list[dict[str, Any]]:
    """The notes that hold gold, with whose: private."""
    return jsonl.read(run.memory_withheld_file).rows


def before(run: RunDir, task_id: str, epoch: int = 0) -> list[Note]:
    """The memory that an episode had when it began, or would have now. UsageError: no such task; a log that
    no longer gives what the trace says it was.
    """
    wave = wave_of(run, task_id, epoch)
    read = _at_lease(run, task_id, epoch)
    notes = known_to(_notes(run), wave, epoch, read["known"] if read else None)
    if read and read["sha256"] != digest(notes):
        raise UsageError(
            f"{run.memory_file} is not what {task_id!r} read in epoch {epoch}: a line was changed or removed"
        )
    return notes


def _notes(run: RunDir) -> list[Note]:
    if not run.memory_file.exists():
        raise UsageError(f"{run.path} had no memory: start a run with --memory inherit")
    return read_notes(run.memory_file)


def wave_of(run: RunDir, task_id: str, epoch: int) -> int:
    """The place of an episode's wave in its run. UsageError: no such task."""
    ids = [str(row["id"]) for row in run.tasks()]
    if task_id not in ids:
        raise UsageError(f"no task {task_id!r} in {run.path}: its ids are {ids[0]} to {ids[-1]}")
    waves = int(run.config().get("memory", {}).get("waves", 1))
    return epoch * -(-len(ids) // waves) + ids.index(task_id) // waves


def _at_lease(run: RunDir, task_id: str, epoch: int) -> Mapping[str, Any] | None:
    for record in run.episodes():
        if record.key == (task_id, epoch):
            for event in run.trace(record):
                if isinstance(event, MemoryRead) and event.memory:
                    return event.memory
    return None


def _readers(run: RunDir, notes: Sequence[Note]) -> dict[str, list[Reader]]:
    """Note → its readers."""
    verdicts = run.verdicts()
    took: dict[tuple[str, int], list[str]] = {}
    for note in notes:
        if note.run is None:
            took.setdefault(note.key, []).append(note.note)
    found: dict[str, list[Reader]] = {}
    for record in run.episodes():
        verdict = verdicts.get(record.key)
        for name, (at, score) in _read_in(list(run.trace(record))).items():
            reader = Reader(
                id=record.id, epoch=record.epoch, at=at, score=score, answer=record.answer,
                verdict=verdict.label if verdict else None, took=took.get(record.key, []),
            )  # fmt: skip
            found.setdefault(name, []).append(reader)
    return found


def _read_in(events: list[Event]) -> dict[str, tuple[list[Literal["lease", "recall"]], float]]:
    """Note → how an episode came to it, and the best score."""
    found: dict[str, tuple[list[Literal["lease", "recall"]], float]] = {}
    for event in events:
        if not isinstance(event, MemoryRead):
            continue
        for name, score in _named(event):
            ways, best = found.get(name, ([], 0.0))
            more = [] if event.at in ways else [event.at]
            found[name] = ([*ways, *more], max(best, score))
    return found


def _named(event: MemoryRead) -> Iterator[tuple[str, float]]:
    """Every note whose text was read, also where another with the same text was shown for it."""
    for hit in event.hits:
        for name in (hit["note"], *hit.get("same", [])):
            yield str(name), float(hit["score"])
