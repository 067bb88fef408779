"""What a run's episodes leave to later ones, from committed folders, without containers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.config import RunConfig, load_config
from fieldmark.errors import ToolError, UsageError
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.memory.history import before, history
from fieldmark.memory.notes import note_name, read_notes
from fieldmark.preflight import settled_parallel
from fieldmark.records import EpisodeRecord, Status
from fieldmark.remembering import check, check_unchanged, describe, take_over, waves_of
from fieldmark.run_memory import RunMemory
from fieldmark.rundir import RunDir, episode_key
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.staging import StagedTask, stage
from fieldmark.task import Task
from fieldmark.task_selection import select_tasks

INHERIT = RunConfig(memory="inherit")
IDS = ("square-red", "square-green", "square-blue", "square-white")


class Played:
    """A run folder over the tiny benchmark, whose episodes are committed by hand."""

    def __init__(self, path: Path, tasks: list[Task], config: RunConfig) -> None:
        self.folder, self.tasks, self.config = RunDir.create(path), tasks, config
        self.folder.write_config({"id": path.name, "started": "now", **describe(config, self.folder)})
        blobs = BlobStore(self.folder.blobs)
        self.staged: list[StagedTask] = [stage(task, 2048, blobs) for task in tasks]
        self.folder.write_tasks([row.public() for row in self.staged], {task.id: task.gold for task in tasks})

    @asynccontextmanager
    async def memory(self, backends: Backends) -> AsyncIterator[RunMemory]:
        """The memory as a runner has it, opened anew."""
        grid = [(staged, epoch) for epoch in range(self.config.epochs) for staged in self.staged]
        memory = RunMemory(self.config, self.folder, grid, self.tasks, backends)
        try:
            await memory.open()
            yield memory
        finally:
            memory.close()

    async def play(self, memory: RunMemory, task: int, *texts: str, status: Status = "answered") -> list[str]:
        """One episode that takes these notes, committed; what stood in its prompt."""
        staged = self.staged[task]
        had = await memory.before(staged, 0)
        lines, read = had.at_lease()
        events: list[dict[str, Any]] = [{"kind": "memory_read", **read}]
        events += [
            {"kind": "memory_write", **had.remember(text, "visual_cue", [3], {3: "ocr"})} for text in texts
        ]
        pending = self.folder.pending_trace(staged.task.id, 0, 0)
        rows = [{"seq": at, "t": 0.0, "by": "gateway", **event} for at, event in enumerate(events)]
        jsonl.write_all(pending, rows)
        record = EpisodeRecord(
            id=staged.task.id, status=status, agent="a", model="m", answer="red", seconds=1,
            charged_seconds=1, started="now", trace=f"{episode_key(staged.task.id)}.jsonl",
        )  # fmt: skip
        self.folder.commit(record, pending)
        return lines

    @property
    def texts(self) -> list[str]:
        return [note.text for note in read_notes(self.folder.memory_file)]


@pytest.fixture
def tasks(tiny: Path) -> list[Task]:
    return load_benchmark(str(tiny)).tasks


@pytest.fixture
def backends() -> Iterator[Backends]:
    backends = Backends()
    yield backends
    backends.close()


async def test_each_episode_reads_what_the_ones_before_it_left(
    tmp_path: Path, tasks: list[Task], backends: Backends
) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT)
    async with run.memory(backends) as memory:
        assert await run.play(memory, 0, "corners are dark") == []
        await memory.merge(0)
        assert await run.play(memory, 1, "a lost note", status="timeout") == ["(visual_cue) corners are dark"]
        await memory.merge(1)
        assert await run.play(memory, 2) == ["(visual_cue) corners are dark"]
    assert run.texts == ["corners are dark"]


async def test_a_killed_run_has_the_memory_of_its_committed_episodes(
    tmp_path: Path, tasks: list[Task], backends: Backends
) -> None:
    """Killed after a commit and before, or in the middle of, its merge; or with the store gone."""
    run = Played(tmp_path / "run", tasks, INHERIT)
    async with run.memory(backends) as memory:
        await run.play(memory, 0, "one", "two")
        await memory.merge(0)
        await run.play(memory, 1, "three")  # committed, never merged
    whole = run.folder.memory_file.read_bytes()
    first = whole.index(b"\n") + 1
    for left in (whole, whole[:first], b""):
        run.folder.memory_file.write_bytes(left)
        run.folder.memory_store.unlink()
        async with run.memory(backends) as memory:
            assert len((await memory.before(run.staged[2], 0)).stored) == 3
        assert run.texts == ["one", "two", "three"]


async def test_a_wave_reads_one_memory_and_is_merged_in_the_order_of_its_tasks(
    tmp_path: Path, tasks: list[Task], backends: Backends
) -> None:
    run = Played(tmp_path / "run", tasks, RunConfig(memory="inherit", waves=2))
    async with run.memory(backends) as memory:
        assert [memory.wave((staged, 0)) for staged in run.staged] == [0, 0, 1, 1]
        assert await run.play(memory, 1, "of the second") == []
        assert await run.play(memory, 0, "of the first") == []
        await memory.merge(0)
        assert len(await run.play(memory, 3, "of the fourth")) == 2
    async with run.memory(backends) as memory:  # killed in the middle of the second wave
        assert len(await run.play(memory, 2)) == 2
        await memory.merge(1)
    assert run.texts == ["of the first", "of the second", "of the fourth"]


def test_no_wave_goes_on_in_another_epoch(tmp_path: Path, tasks: list[Task]) -> None:
    run = Played(tmp_path / "run", tasks[:3], INHERIT)
    grid = [(staged, epoch) for epoch in (0, 1) for staged in run.staged]
    assert [len(wave) for wave in waves_of(grid, 2)] == [2, 1, 2, 1]


async def test_a_note_that_holds_gold_of_any_task_is_withheld_and_nobody_hears_of_it(
    tmp_path: Path, tasks: list[Task], backends: Backends
) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT)
    async with run.memory(backends) as memory:
        await run.play(memory, 0, "surely the WHITE colour", "a black corner", "it is RED")
        await memory.merge(0)
        assert await run.play(memory, 1) == ["(visual_cue) a black corner"]
    assert "WHITE" not in run.folder.memory_file.read_text()
    kept = jsonl.read(run.folder.memory_withheld_file).rows
    assert [(row["text"], row["holds"]) for row in kept] == [
        ("surely the WHITE colour", ["alias of task square-white", "answer of task square-white"]),
        ("it is RED", ["alias of task square-red"]),
    ]
    assert history(run.folder).withheld == 2


async def test_what_an_episode_had_can_be_told_again(
    tmp_path: Path, tasks: list[Task], backends: Backends
) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT)
    async with run.memory(backends) as memory:
        for at in range(3):
            await run.play(memory, at, f"note {at}")
            await memory.merge(at)
    assert [note.text for note in before(run.folder, IDS[2])] == ["note 0", "note 1"]
    assert [note.text for note in before(run.folder, IDS[3])] == ["note 0", "note 1", "note 2"]
    rows = jsonl.read(run.folder.memory_file).rows
    jsonl.write_all(run.folder.memory_file, [{**rows[0], "text": "edited"}, *rows[1:]])
    with pytest.raises(UsageError, match="is not what 'square-blue' read in epoch 0"):
        before(run.folder, IDS[2])


@pytest.mark.parametrize(("waves", "epochs", "order"), [(1, 1, 1), (2, 2, 0), (3, 2, 2)])
async def test_the_folder_alone_tells_what_an_episode_may_read(
    tmp_path: Path, tasks: list[Task], backends: Backends, waves: int, epochs: int, order: int
) -> None:
    """As its run has it: in the order of the run, anew in each epoch, whose last wave may not be full."""
    config = RunConfig(memory="inherit", waves=waves, epochs=epochs, order=order)
    ordered = select_tasks(tasks, "tiny", config)
    assert (ordered == tasks) == (order == 0)
    run = Played(tmp_path / "run", ordered, config)
    grid = [(staged, epoch) for epoch in range(epochs) for staged in run.staged]
    for wave, due in enumerate(waves_of(grid, waves)):
        for staged, epoch in due:
            name = f"{staged.task.id} {epoch}"
            row = {"id": staged.task.id, "epoch": epoch, "note": name, "kind": "family", "text": name}
            jsonl.append(run.folder.memory_file, {**row, "cites": [1], "wave": wave})
    async with run.memory(backends) as memory:
        for staged, epoch in grid:
            read = [each.note.note for each in (await memory.before(staged, epoch)).stored]
            place = run.staged.index(staged) // waves * waves
            assert read == [f"{task.id} {epoch}" for task in ordered[:place]]
            assert [note.note for note in before(run.folder, staged.task.id, epoch)] == read


async def test_a_frozen_memory_is_copied_read_by_all_and_never_written(
    tmp_path: Path, tasks: list[Task], backends: Backends
) -> None:
    source = Played(tmp_path / "source", tasks, INHERIT)
    async with source.memory(backends) as memory:
        for at in range(3):
            await source.play(memory, at, f"note {at}")
            await memory.merge(at)
    planted = {
        "id": "p",
        "note": "planted",
        "kind": "family",
        "text": "all are dotted",
        "cites": [1],
    }
    jsonl.append(source.folder.memory_file, planted)
    jsonl.append(source.folder.memory_file, {**planted, "note": "gold", "text": "the green colour"})
    config = RunConfig(memory=f"frozen:{source.folder.path}")
    run = Played(tmp_path / "run", tasks, config)
    assert take_over(config, run.folder, tasks) == "memory: source is None: what it has so far is taken"
    run.folder.write_config({**run.folder.config(), **describe(config, run.folder)})
    async with run.memory(backends) as memory:
        read = await run.play(memory, 0)
        assert len(read) == 4
        assert "(family) all are dotted" in read
        with pytest.raises(ToolError, match="frozen"):
            (await memory.before(run.staged[1], 0)).remember("x", "family", [3], {3: "ocr"})
    told = next(row for row in history(run.folder).notes if row.note.note == "planted")
    assert [(reader.id, reader.answer) for reader in told.read_by] == [("square-red", "red")]
    assert jsonl.read(run.folder.memory_withheld_file).rows[0]["note"] == "gold"
    check_unchanged(config, run.folder)
    jsonl.append(run.folder.memory_file, {**planted, "note": "later"})
    with pytest.raises(UsageError, match="has changed since the run began"):
        check_unchanged(config, run.folder)
    again = config.model_copy(update={"memory_before": IDS[1]})
    other = Played(tmp_path / "other", tasks, again)
    take_over(again, other.folder, tasks)
    assert other.texts == ["note 0"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"memory": "on"}, "give off, inherit or frozen:RUN"),
        ({"memory": "frozen:"}, "give frozen:RUN"),
        ({"memory": "inherit", "parallel": 4}, "--waves 4"),
        ({"memory": "inherit", "parallel": 4, "waves": 2}, "--waves 4"),
        ({"waves": 2}, "--waves is for --memory inherit"),
        ({"memory": "inherit", "memory_before": "t"}, "--memory-before is for --memory frozen:RUN"),
        ({"memory_url": "postgresql://x/y"}, "--memory-url is for a memory"),
        ({"memory": "inherit", "protocol": "fika"}, "contradicts --protocol fika"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        settled_parallel(load_config(None, options), 8)


def test_a_run_that_inherits_plays_one_episode_after_the_other() -> None:
    assert settled_parallel(INHERIT, 8) == 1
    assert settled_parallel(RunConfig(memory="inherit", waves=4), 8) == 4
    assert settled_parallel(RunConfig(memory="frozen:runs/A"), 8) == 8


def test_a_run_without_memory_cannot_be_read_from(tmp_path: Path) -> None:
    folder = RunDir.create(tmp_path / "off")
    folder.write_config({"id": "off"})
    with pytest.raises(UsageError, match="that run had no memory"):
        check(RunConfig(memory=f"frozen:{folder.path}"))
    with pytest.raises(UsageError, match="start a run with --memory inherit"):
        history(folder)


def test_a_database_that_does_not_answer_stops_a_run_before_it_begins() -> None:
    with pytest.raises(UsageError, match=r"^--memory-url"):
        check(RunConfig(memory="inherit", memory_url="postgresql://nobody:secret@127.0.0.1:1/notes"))


def test_the_name_of_a_note_is_its_place_and_tells_nothing() -> None:
    names = {note_name(task, epoch, number) for task in "ab" for epoch in (0, 1) for number in (1, 2)}
    assert len(names) == 8
    assert json.dumps(sorted(names)).isascii()
