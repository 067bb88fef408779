"""Note: what an episode leaves for later ones. The log of a run, `memory.jsonl`, holds one a line, in order.

The log is only appended to, so that the memory which any episode had can be told again: `known_to`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.records import Row
from fieldmark.trace import NoteKind


class Note(Row):
    """`id` and `epoch` are the episode that took it; `cites` the `seq` of results in its trace.

    `wave` is the place of that episode in its run (of its wave, where several play at once): what is read
    comes from earlier waves of the same epoch only, for epochs repeat an experiment and stay independent.
    `look` is the picture's vector, base64 of float32; None: unknown. `run` names the run that it was taken
    over from.
    """

    note: str
    kind: NoteKind
    text: str
    cites: list[int]
    wave: int = 0
    look: str | None = None
    run: str | None = None


def note_name(task_id: str, epoch: int, number: int) -> str:
    """The name of the `number`th note of an episode: the same whenever it is merged again."""
    return hashlib.sha256(f"{task_id}\n{epoch}\n{number}".encode("utf-8", "replace")).hexdigest()[:12]


def read_notes(path: Path) -> list[Note]:
    """The notes of a log, in order; lines that are no note count as not there."""
    notes = []
    for row in jsonl.read(path).rows:
        try:
            notes.append(Note.model_validate(row))
        except ValidationError:
            continue
    return notes


def known_to(notes: Iterable[Note], wave: int, epoch: int, known: int | None = None) -> list[Note]:
    """What an episode may read: of the first `known` lines of the log (None: all), the notes that earlier
    waves of its own epoch left, and those taken over from another run.
    """
    return [note for note in list(notes)[:known] if note.run or (note.epoch == epoch and note.wave < wave)]


def digest(notes: Iterable[Note]) -> str:
    """16 hex digits of a memory: its notes' names and texts in order."""
    whole = "\n".join(f"{note.note}\t{note.kind}\t{note.text}" for note in notes)
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:16]
