"""Where a false note may have gone: every answer it touched, at first hand or carried on by other notes.

An episode that read the note may have carried it into the notes it took itself; who reads those is touched
at second hand, and so on. Whether anyone believed it is not known: this is the most that it can have touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from fieldmark.errors import UsageError
from fieldmark.memory.history import NoteHistory, Reader, history
from fieldmark.memory.notes import Note
from fieldmark.rundir import RunDir

Origin = tuple[str, str]
"""The run that took a note, and the note's name: names alone are alike in runs over the same tasks."""


class Carried(BaseModel):
    """A note that may carry the first one on; `hand` 1: of an episode that read the first one itself."""

    run: str
    note: Note
    hand: int


class Touched(BaseModel):
    """An answer that the note may have touched: by reading it (`hand` 1), or a note that carries it on (2 …).

    `through` are the notes that it read, of those.
    """

    run: str
    hand: int
    through: list[str]
    reader: Reader


class Contamination(BaseModel):
    """Everything that a note may have touched, in its run and in those that read its run's notes."""

    note: str
    carried: list[Carried]
    touched: list[Touched]


def contamination(run: RunDir, note: str, others: Iterable[RunDir] = ()) -> Contamination:
    """`others` are runs that may have read the notes of `run` (`frozen:RUN`), in the order they were made.

    UsageError: no such note; no memory.
    """
    histories = {each.path.resolve().name: history(each).notes for each in (run, *others)}
    name = run.path.resolve().name
    first = next((row.note for row in histories[name] if row.note.note == note), None)
    if first is None:
        raise UsageError(f"no note {note!r} in {run.path}: `fieldmark memory {run.path}` lists them")
    hands = _spread(_origin(name, first), histories)
    carried = [
        Carried(run=where, note=row.note, hand=hands[origin])
        for where, rows in histories.items()
        for row in rows
        if (origin := _origin(where, row.note)) in hands and hands[origin] and row.note.run is None
    ]
    return Contamination(
        note=note, carried=sorted(carried, key=lambda each: each.hand), touched=_touched(hands, histories)
    )


def _origin(run: str, note: Note) -> Origin:
    return note.run or run, note.note


def _spread(first: Origin, histories: Mapping[str, list[NoteHistory]]) -> dict[Origin, int]:
    """Note → 0 for the first, 1 for one that an episode took which read it, and so on, breadth first."""
    hands, now = {first: 0}, [first]
    while now:
        taken = [
            ((run, name), hands[origin] + 1)
            for run, rows in histories.items()
            for row in rows
            if (origin := _origin(run, row.note)) in now
            for reader in row.read_by
            for name in reader.took
        ]
        now = []
        for origin, hand in taken:
            if origin not in hands:
                hands[origin] = hand
                now.append(origin)
    return hands


def _touched(hands: Mapping[Origin, int], histories: Mapping[str, list[NoteHistory]]) -> list[Touched]:
    found: dict[tuple[str, str, int], Touched] = {}
    for run, rows in histories.items():
        for row in rows:
            hand = hands.get(_origin(run, row.note))
            if hand is None:
                continue
            for reader in row.read_by:
                key = (run, reader.id, reader.epoch)
                had = found.get(key) or Touched(run=run, hand=hand + 1, through=[], reader=reader)
                found[key] = had.model_copy(
                    update={"hand": min(had.hand, hand + 1), "through": [*had.through, row.note.note]}
                )
    return sorted(found.values(), key=lambda each: each.hand)
