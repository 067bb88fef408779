"""`fieldmark memory`: the notes of a run, and every answer that they may have touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldmark.counting import counted

if TYPE_CHECKING:
    from fieldmark.memory.contamination import Contamination, Touched
    from fieldmark.memory.history import MemoryHistory, NoteHistory, Reader
    from fieldmark.memory.notes import Note
    from fieldmark.memory.state_history import StateHistory
    from fieldmark.rundir import RunDir


@click.command("memory")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--before", "task", metavar="TASK", help="Only what this task's episode could read.")
@click.option("--epoch", type=click.IntRange(min=0), default=0, help="Of that task.  [default: 0]")
@click.option("--note", help="Only the note of this name: each answer it may have touched, at any remove.")
@click.option(
    "--in",
    "others",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --note, also in this run that read RUN's notes (frozen:RUN), or in those in a folder.",
)
@click.option("--private", is_flag=True, help="The notes too that were withheld, which hold gold.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    run: Path, task: str | None, epoch: int, note: str | None, others: tuple[Path, ...], private: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """List the notes of RUN: what was written, by which episode, and each answer that read it.

    \b
    fieldmark memory runs/A
    fieldmark memory runs/A --note 70c31837f1b6      # where a false note went, and what carried it on
    fieldmark memory runs/A --note 70c31837f1b6 --in runs   # in every run that read it, too
    fieldmark memory runs/A --before task-17 --json  # the memory that this episode had
    """
    from fieldmark.errors import UsageError
    from fieldmark.memory.contamination import contamination
    from fieldmark.memory.history import before, history, readers_of, withheld
    from fieldmark.memory.state_history import is_native
    from fieldmark.rundir import RunDir

    folder = RunDir.open(run)
    if is_native(folder):
        _native(folder, task, epoch, note, private, as_json)
        return
    if task is not None:
        _show_before(before(folder, task, epoch), as_json)
        return
    told, spread = history(folder), None
    if others and note is None:
        raise UsageError("--in follows one note: name it with --note")
    if note is not None:
        spread = contamination(folder, note, readers_of(folder, others))
        told = told.model_copy(update={"notes": [row for row in told.notes if row.note.note == note]})
    kept_back = withheld(folder) if private else []
    if as_json:
        row = told.model_dump(mode="json", exclude_none=True)
        if spread:
            row["contamination"] = spread.model_dump(
                mode="json", exclude_none=True, exclude={"carried": {"__all__": {"note": {"look"}}}}
            )
        click.echo(json.dumps({**row, **({"private": kept_back} if private else {})}, ensure_ascii=False))
        return
    click.echo("\n".join([_headline(told), *(line for row in told.notes for line in _lines(row))]))
    if spread:
        click.echo("\n".join(_spread(spread, folder)))
    for row in kept_back:
        click.echo(f"withheld: {row['text']} (by {row['id']}; it holds {', '.join(row['holds'])})")


def _headline(told: MemoryHistory) -> str:
    notes = counted(len(told.notes), "note")
    readings = f"{counted(told.reads, 'reading')} in {counted(told.episodes, 'episode')}"
    apart = "" if told.withheld is None else f", {told.withheld} withheld"
    return f"memory {told.mode}: {notes}{apart}; {readings}"


def _lines(row: NoteHistory) -> list[str]:
    return [_note(row.note), *(f"    {_reader(reader)}" for reader in row.read_by)]


def _spread(spread: Contamination, run: RunDir) -> list[str]:
    """What is not said by the note and its readers: what carried it on, and who else was touched."""
    own = run.path.resolve().name
    lines = [f"carried on by {_note(each.note)}{_where(each.run, own)}" for each in spread.carried]
    lines += [_touched(each, own) for each in spread.touched if each.hand > 1 or each.run != own]
    right = sum(each.reader.verdict == "correct" for each in spread.touched)
    hands = sorted({each.hand for each in spread.touched})
    counts = [f"{sum(each.hand == hand for each in spread.touched)} at hand {hand}" for hand in hands]
    return [
        *lines,
        f"touched: {len(spread.touched)} answers ({', '.join(counts) or 'none'}), {right} correct",
    ]


def _touched(each: Touched, own: str) -> str:
    through = ", ".join(each.through)
    return f"    hand {each.hand}, through {through}: {_reader(each.reader)}{_where(each.run, own)}"


def _where(run: str, own: str) -> str:
    return "" if run == own else f"  [in {run}]"


def _note(note: Note) -> str:
    source = f"{_key(note.id, note.epoch)}{f' of {note.run}' if note.run else ''}"
    cited = ", ".join(map(str, note.cites))
    return f"{note.note} ({note.kind}) {note.text}  [by {source}, events {cited}]"


def _reader(reader: Reader) -> str:
    answer = f"answered {reader.answer!r}" if reader.answer is not None else "gave no answer"
    verdict = f", {reader.verdict}" if reader.verdict else ""
    how = f"{' and '.join(reader.at)}, {reader.score:.2f}"
    took = f"; took {', '.join(reader.took)}" if reader.took else ""
    return f"read by {_key(reader.id, reader.epoch)} ({how}): {answer}{verdict}{took}"


def _key(task_id: str, epoch: int) -> str:
    return f"{task_id} epoch {epoch}" if epoch else task_id


def _show_before(notes: list[Note], as_json: bool) -> None:
    if as_json:
        rows = [note.model_dump(mode="json", exclude={"look"}, exclude_none=True) for note in notes]
        click.echo(json.dumps({"notes": rows}, ensure_ascii=False))
        return
    click.echo("\n".join(map(_note, notes)) or "no notes: nothing came before it")


def _native(
    folder: RunDir, task: str | None, epoch: int, note: str | None, private: bool, as_json: bool
) -> None:
    """The same for the files that an agent of others keeps itself."""
    from fieldmark.errors import UsageError
    from fieldmark.memory.history import withheld
    from fieldmark.memory.state_history import state_history, state_of

    if note is not None:
        raise UsageError(
            f"--note: {folder.path} has the files of its agent for a memory, no notes: leave it out"
        )
    if task is not None:
        row = state_of(folder, task, epoch)
        click.echo(json.dumps(row) if as_json else f"{row['state']}  {_size(row['files'], row['bytes'])}")
        return
    told, kept_back = state_history(folder), withheld(folder) if private else []
    if as_json:
        row = told.model_dump(mode="json", exclude_none=True)
        click.echo(json.dumps({**row, **({"private": kept_back} if private else {})}, ensure_ascii=False))
        return
    click.echo(_native_headline(told))
    for state in told.states:
        source = f"{_key(state.id, state.epoch)}{f' of {state.run}' if state.run else ''}"
        click.echo(f"{state.state}  {_size(state.files, state.bytes)}  [by {source}]")
    for row in kept_back:
        click.echo(f"withheld: {row['file']} (by {row['id']}; it holds {', '.join(row['holds'])})")


def _native_headline(told: StateHistory) -> str:
    apart = "" if told.withheld is None else f", {counted(told.withheld, 'file')} withheld"
    readers = counted(told.readers, "episode")
    return (
        f"memory {told.mode}, native: {counted(len(told.states), 'state')}{apart}; {readers} began with files"
    )


def _size(files: int, size: int) -> str:
    return f"{counted(files, 'file')}, {size} bytes"
