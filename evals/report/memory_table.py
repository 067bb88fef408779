"""What a memory did, as tables: of one run, and beside the same tasks without it."""

from __future__ import annotations

from collections.abc import Iterable

from fieldmark.evals.comparison.memory import MemoryEffect
from fieldmark.evals.metrics.memory import MemoryFacts
from fieldmark.evals.report.figures import count, interval, number, percent
from fieldmark.evals.report.table import Table


def memory_tables(facts: MemoryFacts | None) -> list[Table]:
    """What was written, and how the episodes did that read it; none where the run has no memory."""
    return [_notes(facts), _readings(facts)] if facts else []


def _notes(facts: MemoryFacts) -> Table:
    rows = [[row.kind, str(row.taken), *map(_known, (row.kept, row.over, row.read))] for row in facts.kinds]
    note = (
        f"Memory {facts.mode}. taken by episodes of this run; kept in its memory; over: taken over from "
        f"another run. Calls refused: {facts.refused}; notes lost with an episode that did not end answered: "
        f"{facts.lost}; withheld because they hold gold: {_known(facts.withheld)}. `fieldmark memory RUN` "
        "follows each note."
    )
    return Table("Memory: notes", note, ["kind", "taken", "kept", "over", "ever read"], rows)


def _readings(facts: MemoryFacts) -> Table:
    rows = [
        [
            row.what,
            count(row.episodes),
            count(row.correct),
            percent(row.correct.fraction),
            interval(row.interval),
        ]
        for row in facts.rows
    ]
    ever = "" if facts.ever_read is None else f" Of the notes {count(facts.ever_read)} were read at all."
    note = (
        f"Notes in the prompt: {count(facts.leased)} episodes; recalled: {count(facts.recalled)}; notes a "
        f"reader read, on average: {number(facts.each, 1)}.{ever} answer stood in one: the answer given, "
        "right or wrong, stands in a note that was read. The rows are other tasks, so they are no "
        "effect: that needs the same tasks without memory (`fieldmark compare`, a study). CI: Wilson's."
    )
    return Table(
        "Memory: accuracy by what was read", note, "had|episodes|correct /done|%|CI 95%".split("|"), rows
    )


def effects_table(effects: Iterable[MemoryEffect]) -> Table:
    """The same looks with and without a memory."""
    rows = [
        [
            effect.arm, effect.without, row.what,
            *map(str, (row.pairs, row.changed, row.helped, row.hurt, row.both, row.neither)),
        ]
        for effect in effects
        for row in effect.rows
    ]  # fmt: skip
    note = (
        "The same task, epoch and order with and without the memory. changed: another answer; helped: only "
        "the one with memory is right; hurt: only the other. Episodes that read no note tell how often an "
        "answer changes without one; where a note held the answer, the note may have given it. Counts of "
        "looks, not of tasks: the test is that of the arms."
    )
    columns = "with|without|had|pairs|changed|helped|hurt|both|neither".split("|")
    return Table("Did memory change the answer", note, columns, rows, 3)


def _known(value: int | None) -> str:
    return "–" if value is None else str(value)
