"""The memory of a run: what each episode may read of it, and what the finished ones leave.

The traces are the truth. A wave (one episode, or `--waves` of them) reads what earlier waves left; when all
of it is committed its notes are merged, in the order of the tasks, into `memory.jsonl` and the store. Merging
again changes nothing, so a run that was killed anywhere goes on with the memory of its committed episodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark import jsonl, native
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.exporting.proof import GoldSearch
from fieldmark.memory.history import before
from fieldmark.memory.notes import Note, digest, read_notes
from fieldmark.run_reader import part
from fieldmark.rundir import RunDir
from fieldmark.staging import StagedTask
from fieldmark.task import Task

if TYPE_CHECKING:
    from fieldmark.run_memory import RunMemory
    from fieldmark.sandbox.gateway.backends import Backends

Due = tuple[StagedTask, int]
"""A task and an epoch."""


def gold_search(tasks: Sequence[Task]) -> GoldSearch:
    """The gold of a whole benchmark: what no note may hold, however short. Too many notes withheld do less
    harm than one that gives an answer away.
    """
    return GoldSearch({task.id: task.gold for task in tasks}, every=True)


def frozen_source(config: RunConfig) -> RunDir | None:
    """The run of `frozen:RUN`. UsageError: it is none, or had no memory."""
    if config.frozen is None:
        return None
    source = RunDir.open(config.frozen)
    if not source.memory_file.exists():
        raise UsageError(f"--memory frozen:{config.frozen}: that run had no memory: name one that had")
    form = part(source.config(), "memory").get("form", "store")
    if form != config.memory_form:
        raise UsageError(
            f"--memory frozen:{config.frozen}: that run had it in form {form}: --memory-form {form}"
        )
    if config.memory_before and form == "native":
        native.taken(source, config.memory_before)
    elif config.memory_before:
        before(source, config.memory_before)
    return source


def check(config: RunConfig) -> None:
    """Before a run: is the run of `frozen:RUN` there, does the database answer? UsageError: no."""
    frozen_source(config)
    if config.memory_url:
        from fieldmark.memory.store import NoteStore  # NumPy: most runs have no notes

        NoteStore.open("check", Path(), config.memory_url).close()


def take_over(config: RunConfig, folder: RunDir, tasks: Sequence[Task]) -> str | None:
    """Copy the notes of `frozen:RUN` into a new run that reads them; a warning where they are not its last.

    Notes that hold gold of this benchmark are withheld here too.
    """
    source = frozen_source(config)
    if source is None:
        return None
    task, gold = config.memory_before, gold_search(tasks)
    folder.memory_file.touch()
    if config.memory_form == "native":
        native.take_over(config, source, folder, gold)
    else:
        read = before(source, task) if task else read_notes(source.memory_file)
        add_notes(
            folder, [note.model_copy(update={"run": note.run or source.path.name}) for note in read], gold
        )
    state = source.config().get("state")
    if task or state == "finished":
        return None
    return f"memory: {source.path.name} is {state}: what it has so far is taken"


def describe(config: RunConfig, folder: RunDir) -> dict[str, Any]:
    """For run.json, where a run has a memory: its mode, and what a frozen one holds."""
    if config.memory == "off":
        return {}
    told: dict[str, Any] = {"mode": config.memory.partition(":")[0], "form": config.memory_form}
    if config.memory_form == "store":
        told["store"] = "postgres" if config.memory_url else "sqlite"
    if config.memory == "inherit":
        told["waves"] = config.waves or 1
    if config.frozen:
        told |= {"run": config.frozen.resolve().name, **_holding(config, folder)}
    return {"memory": told}


def _holding(config: RunConfig, folder: RunDir) -> dict[str, Any]:
    """What a frozen memory holds."""
    if config.memory_form == "native":
        return native.describe(folder)
    notes = read_notes(folder.memory_file)
    return {"notes": len(notes), "sha256": digest(notes)}


def check_unchanged(config: RunConfig, folder: RunDir) -> None:
    """A run goes on with the memory that it began with. UsageError: that is not at hand, or has changed."""
    was = part(folder.config(), "memory")
    if was.get("store") == "postgres" and not config.memory_url:
        raise UsageError(f"the notes of {folder.path} are in Postgres: name it again with --memory-url")
    if config.memory_url and was.get("store") != "postgres":
        raise UsageError(f"--memory-url: the notes of {folder.path} are in the run folder: leave it out")
    if "sha256" in was and _holding(config, folder).get("sha256") != was["sha256"]:
        raise UsageError(f"{folder.memory_file} has changed since the run began: start a new run")


def waves_of(grid: Sequence[Due], size: int) -> Iterator[Sequence[Due]]:
    """The episodes that read the same memory, in the order of `grid`; no wave goes on in another epoch."""
    for _, epoch in itertools.groupby(grid, lambda due: due[1]):
        due = list(epoch)
        yield from (due[at : at + size] for at in range(0, len(due), size))


def open_memory(
    config: RunConfig, folder: RunDir, grid: Sequence[Due], tasks: Sequence[Task], backends: Backends,
    places: Sequence[str],
) -> RunMemory | native.NativeMemory | None:  # fmt: skip
    """The memory that a run asks for; `places` are the files of one in form `native`."""
    if config.memory == "off":
        return None
    if config.memory_form == "native":
        return native.NativeMemory(config, folder, grid, gold_search(tasks), places)
    from fieldmark.run_memory import RunMemory

    return RunMemory(config, folder, grid, tasks, backends)


def add_notes(folder: RunDir, notes: Sequence[Note], gold: GoldSearch) -> None:
    """Append those that are not there yet: to the log, or, where one holds gold, to the private part."""
    there = {
        row.get("note")
        for path in (folder.memory_file, folder.memory_withheld_file)
        for row in jsonl.read(path).rows
    }
    for note in notes:
        if note.note in there:
            continue
        row = note.model_dump(mode="json", exclude_none=True)
        if whose := sorted(gold.in_text(note.text)):
            jsonl.append(folder.memory_withheld_file, {**row, "holds": whose})
        else:
            jsonl.append(folder.memory_file, row)
