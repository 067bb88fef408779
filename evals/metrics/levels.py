"""Credit by level: how near to the reference an answer came, in episodes that are done.

    exact       judged correct, and no finer than the reference
    finer       judged correct, and more specific than the reference
    broader     judged partially correct: broader, a parent, or a part of the reference
    abstained   the answer says only that it is not known (`abstention.py`), and was not judged correct
    else        wrong: judged incorrect; unclear: judged uncertain; none: no answer

Of the wrong ones `holds` the reference: an answer that has all words of the reference, or of an alias, in a
row, more words beside them, no doubt or denial, and the verdict incorrect: a wrong detail was added, as far
as words can tell. Questions for a literal text are left out of it. None without gold.

The unit is the episode: levels of several epochs cannot be averaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel

from fieldmark.evals.judges.normalise import fold, words
from fieldmark.evals.judges.phrases import hedges
from fieldmark.evals.metrics.abstention import abstains
from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.task import Gold

Level = Literal["exact", "finer", "broader", "wrong", "unclear", "abstained", "none"]
LEVELS: tuple[Level, ...] = get_args(Level)
HIERARCHY = "reference with levels"
"""The row of the tasks whose gold lists broader or finer names."""


class LevelRow(BaseModel):
    """Episodes of a category: `done`, and how many of them at each level; `holds` is a part of `wrong`."""

    top: str
    done: int
    levels: dict[Level, int]
    holds: int | None


def level(cell: Cell) -> Level | None:
    """None where there is no word on the episode."""
    if cell.outcome not in DONE:
        return None
    if cell.outcome == "no_answer":
        return "none"
    if cell.outcome == "correct":
        return "finer" if cell.verdict and cell.verdict.finer else "exact"
    if cell.record and abstains(cell.record.answer):
        return "abstained"
    named: dict[str, Level] = {"partially_correct": "broader", "uncertain": "unclear"}
    return named.get(cell.outcome, "wrong")


def holds_reference(answer: str | None, gold: Gold) -> bool:
    """Whether an answer has the words of gold or an alias, in a row, and more; without doubt or denial."""
    given, text = words(answer or ""), fold(answer or "")
    if gold.match == "exact_text" or hedges(text):
        return False
    names = [words(name) for name in (gold.answer, *gold.aliases)]
    return any(
        name == given[start : start + len(name)]
        for name in names
        if name and len(name) < len(given)
        for start in range(len(given))
    )


def levels(cells: list[Cell], gold: Mapping[str, Gold]) -> list[LevelRow]:
    """A row for each top category, for all of them, and for the tasks whose gold has levels, if any has."""
    found = [_Reached(cell, at, _holds(cell, at, gold)) for cell in cells if (at := level(cell))]
    tops = sorted({cell.top for cell in cells})
    rows = [_row(top, [each for each in found if each.cell.top == top], gold) for top in tops]
    rows.append(_row(ALL, found, gold))
    if deep := {task for task, known in gold.items() if known.broader or known.finer}:
        rows.append(_row(HIERARCHY, [each for each in found if each.cell.id in deep], gold))
    return rows


class _Reached(NamedTuple):
    cell: Cell
    level: Level
    holds: bool


def _holds(cell: Cell, at: Level, gold: Mapping[str, Gold]) -> bool:
    if at != "wrong" or cell.record is None or cell.id not in gold:
        return False
    return holds_reference(cell.record.answer, gold[cell.id])


def _row(top: str, found: list[_Reached], gold: Mapping[str, Gold]) -> LevelRow:
    counts = Counter(each.level for each in found)
    return LevelRow(
        top=top,
        done=len(found),
        levels={name: counts[name] for name in LEVELS},
        holds=sum(each.holds for each in found) if gold else None,
    )
