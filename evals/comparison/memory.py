"""What a memory did to the answers, beside the same looks without it; how much of an arm's was read."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ValidationError

from fieldmark.evals.comparison.orders import Orders
from fieldmark.evals.comparison.paired import Side
from fieldmark.evals.judges.normalise import words
from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.memory import READINGS, MemoryTrace, Reading, memory_in, reading_of
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Share
from fieldmark.memory.notes import read_notes


class MemoryUse(BaseModel):
    """One arm over all its orders. `notes` that its memories hold; `readings`: notes read in all, one counted
    once an episode, or in form `native` files begun with; `readers`: episodes that read any, of `episodes`.
    `stood`: readers whose answer stands in a note they read.

    `correct` are those done among the readers: they are other tasks than those that read nothing, so the two
    do not compare. What a memory does, the arms compared say.
    """

    arm: str
    notes: int
    readings: int
    readers: int
    stood: int
    episodes: int
    correct: Share


class EffectRow(BaseModel):
    """Looks with this reading that are done on both sides: `pairs` of them, `changed` another answer.

    `helped`: only with memory right; `hurt`: only without.
    """

    what: Reading
    pairs: int
    changed: int
    helped: int
    hurt: int
    both: int
    neither: int


class MemoryEffect(BaseModel):
    """`arm` with a memory beside `without` one."""

    arm: str
    without: str
    rows: list[EffectRow]


def has_memory(side: Side) -> bool:
    return bool(side.run.config().get("memory"))


def memory_use(arm: str, sides: Iterable[Side]) -> MemoryUse | None:
    """None where the arm has no memory."""
    mine = [side for side in sides if has_memory(side)]
    if not mine:
        return None
    read = [each for side in mine for each in _readings(side)]
    readers = [cell for cell, _, readings in read if "read notes" in readings]
    done = [cell for cell in readers if cell.outcome in DONE]
    return MemoryUse(
        arm=arm,
        notes=sum(len(read_notes(side.run.memory_file)) for side in mine),
        readings=sum(notes for _, notes, _ in read),
        readers=len(readers),
        stood=sum("answer stood in one" in readings for _, _, readings in read),
        episodes=len(read),
        correct=Share.of(sum(cell.outcome in CORRECT for cell in done), len(done)),
    )


def memory_effect(arm: str, with_it: Orders, without: str, cold: Orders) -> MemoryEffect | None:
    """None where no look is done on both sides, in the same order of the tasks."""
    pairs = [
        (cell, other, readings)
        for order, side in with_it.items()
        if order in cold
        for cell, other, readings in _pairs(side, cold[order])
    ]
    rows = [_effect(what, [(a, b) for a, b, readings in pairs if what in readings]) for what in READINGS]
    return MemoryEffect(arm=arm, without=without, rows=rows) if pairs else None


def effect_between(a: Side, b: Side) -> MemoryEffect | None:
    """Of two runs, of which just one has a memory."""
    if has_memory(a) == has_memory(b):
        return None
    warm, cold = (a, b) if has_memory(a) else (b, a)
    return memory_effect(warm.name, {None: warm}, cold.name, {None: cold})


def _pairs(side: Side, cold: Side) -> Iterable[tuple[Cell, Cell, set[Reading]]]:
    others = {(cell.id, cell.epoch): cell for cell in cold.cells}
    for cell, _, readings in _readings(side):
        other = others.get((cell.id, cell.epoch))
        alike = side.asked.get(cell.id) == cold.asked.get(cell.id)
        if other and alike and {cell.outcome, other.outcome} <= DONE:
            yield cell, other, readings


def _effect(what: Reading, pairs: list[tuple[Cell, Cell]]) -> EffectRow:
    right = [(a.outcome in CORRECT, b.outcome in CORRECT) for a, b in pairs]
    return EffectRow(
        what=what, pairs=len(pairs), changed=sum(_answer(a) != _answer(b) for a, b in pairs),
        helped=right.count((True, False)), hurt=right.count((False, True)),
        both=right.count((True, True)), neither=right.count((False, False)),
    )  # fmt: skip


def _answer(cell: Cell) -> tuple[str, ...] | None:
    """Only of an episode that ended with it."""
    answered = cell.record is not None and cell.record.status == "answered"
    return words(cell.record.answer or "") if answered and cell.record else None


def _readings(side: Side) -> list[tuple[Cell, int, set[Reading]]]:
    """Each episode that did not break: how many notes or files it read, and what it had of the memory."""
    texts = {note.note: note.text for note in read_notes(side.run.memory_file)}
    questions = {task: str(asked[0] or "") for task, asked in side.asked.items()}
    found = []
    for cell in side.cells:
        if cell.outcome != "sandbox_error" and (trace := _trace(side, cell)):
            had = reading_of(cell, trace, texts, questions.get(cell.id, ""))
            found.append((cell, len(trace.read) + trace.files, had))
    return found


def _trace(side: Side, cell: Cell) -> MemoryTrace | None:
    try:
        return memory_in(side.run.trace(cell.record)) if cell.record else None
    except (ValidationError, OSError):
        return None
