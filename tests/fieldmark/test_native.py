"""The files that an agent of others keeps, from episode to episode: out of committed folders."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl, native
from fieldmark.agents.registry import get_agent
from fieldmark.config import RunConfig, load_config
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.memory.state import State
from fieldmark.memory.state_history import state_history, state_of
from fieldmark.preflight import settled_parallel
from fieldmark.records import EpisodeRecord, Status
from fieldmark.remembering import check, check_unchanged, describe, gold_search, take_over
from fieldmark.rundir import RunDir, episode_key
from fieldmark.staging import StagedTask, stage
from fieldmark.task import Task
from tests.conftest import FIELDMARK, Fieldmark, spawn

INHERIT = RunConfig(memory="inherit", memory_form="native")
NOTES, OTHER = "home/.notes/a.md", "home/.notes/b.md"
IDS = ("square-red", "square-green", "square-blue", "square-white")


class Played:
    """A run folder over the tiny benchmark, whose episodes are committed by hand."""

    def __init__(self, path: Path, tasks: list[Task], config: RunConfig) -> None:
        self.folder, self.tasks, self.config = RunDir.create(path), tasks, config
        blobs = self.folder.blob_store()
        self.staged: list[StagedTask] = [stage(task, 2048, blobs) for task in tasks]
        self.folder.write_tasks([row.public() for row in self.staged], {task.id: task.gold for task in tasks})
        self.write_config()

    def write_config(self) -> None:
        described = describe(self.config, self.folder)
        self.folder.write_config(
            {"id": self.folder.path.name, "state": "finished", "started": "now", **described}
        )

    def memory(self) -> native.NativeMemory:
        """As a runner has it, opened anew."""
        grid = [(staged, epoch) for epoch in range(self.config.epochs) for staged in self.staged]
        memory = native.NativeMemory(
            self.config, self.folder, grid, gold_search(self.tasks), ("home/.notes",)
        )
        asyncio.run(memory.open())
        return memory

    def play(
        self,
        task: int,
        left: State | None,
        *,
        status: Status = "answered",
        epoch: int = 0,
        merge: bool = True,
    ) -> State:
        """One episode that leaves these files, committed; those that it began with."""
        memory, staged = self.memory(), self.staged[task]
        had = asyncio.run(memory.before(staged, epoch))
        events = [had.at_lease()[1]]
        if left is not None and had.writes:
            text, event = had.keep(left)
            self.folder.blob_store().put_text(text)
            events.append(event)
        pending = self.folder.pending_trace(staged.task.id, epoch, 0)
        rows = [
            {"seq": at, "t": 0.0, "by": "gateway", "kind": "memory_state", **event}
            for at, event in enumerate(events)
        ]
        jsonl.write_all(pending, rows)
        record = EpisodeRecord(
            id=staged.task.id, epoch=epoch, status=status, agent="a", model="m", answer="red", seconds=1,
            charged_seconds=1, started="now", trace=f"{episode_key(staged.task.id, epoch)}.jsonl",
        )  # fmt: skip
        self.folder.commit(record, pending)
        if merge:
            asyncio.run(memory.merge(memory.wave((staged, epoch))))
        return had.files

    @property
    def log(self) -> list[dict[str, Any]]:
        return jsonl.read(self.folder.memory_file).rows


@pytest.fixture
def tasks(tiny: Path) -> list[Task]:
    return load_benchmark(str(tiny)).tasks


def test_each_episode_begins_with_what_the_last_answered_one_left(tmp_path: Path, tasks: list[Task]) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT)
    assert run.play(0, {NOTES: "corners"}) == {}
    assert run.play(1, {NOTES: "lost"}, status="timeout") == {NOTES: "corners"}
    assert run.play(2, {OTHER: "renamed"}) == {NOTES: "corners"}
    assert run.play(3, None) == {OTHER: "renamed"}
    assert [row["id"] for row in run.log] == ["square-red", "square-blue"]


def test_files_that_hold_gold_stay_what_they_were_and_nobody_hears_of_it(
    tmp_path: Path, tasks: list[Task]
) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT)
    run.play(0, {NOTES: "corners", OTHER: "surely\nthe WHITE\ncolour", "home/.notes/green.md": "x"})
    assert run.play(1, {NOTES: "it is red", OTHER: "dotted"}) == {NOTES: "corners"}
    assert run.play(2, None) == {NOTES: "corners", OTHER: "dotted"}
    withheld = jsonl.read(run.folder.memory_withheld_file).rows
    assert [(row["id"], row["file"], row["holds"]) for row in withheld] == [
        ("square-red", OTHER, ["alias of task square-white", "answer of task square-white"]),
        ("square-red", "home/.notes/green.md", ["alias of task square-green"]),
        ("square-green", NOTES, ["alias of task square-red"]),
    ]
    told = state_history(run.folder)
    assert (told.withheld, told.readers, len(told.states)) == (3, 2, 2)


def test_a_killed_run_has_the_state_of_its_committed_episodes(tmp_path: Path, tasks: list[Task]) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT)
    run.play(0, {NOTES: "one"})
    run.play(1, {NOTES: "two", OTHER: "white"}, merge=False)  # committed, never merged
    whole = run.folder.memory_file.read_bytes()
    for left in (whole, b""):
        run.folder.memory_file.write_bytes(left)
        had = asyncio.run(run.memory().before(run.staged[2], 0))
        assert had.files == {NOTES: "two"}
        assert [row["id"] for row in run.log] == ["square-red", "square-green"]
    assert len(jsonl.read(run.folder.memory_withheld_file).rows) == 1


def test_epochs_do_not_share_a_state(tmp_path: Path, tasks: list[Task]) -> None:
    run = Played(tmp_path / "run", tasks, INHERIT.model_copy(update={"epochs": 2}))
    run.play(0, {NOTES: "first"})
    assert run.play(0, {NOTES: "second"}, epoch=1) == {}
    assert run.play(1, None, epoch=1) == {NOTES: "second"}
    assert run.play(1, None) == {NOTES: "first"}


def test_what_an_episode_began_with_can_be_told_and_had_again(tmp_path: Path, tasks: list[Task]) -> None:
    source = Played(tmp_path / "source", tasks, INHERIT)
    for at in range(3):
        source.play(at, {NOTES: f"note {at}"})
    source.play(3, None)
    rows = source.log
    assert [state_of(source.folder, task)["state"] for task in IDS[1:]] == [row["state"] for row in rows]
    config = INHERIT.model_copy(update={"memory": f"frozen:{source.folder.path}"})
    for before, had in ((None, "note 2"), (IDS[1], "note 0")):
        asked = config.model_copy(update={"memory_before": before})
        run = Played(tmp_path / f"run-{before}", tasks, asked)
        check(asked)
        take_over(asked, run.folder, tasks)
        run.write_config()
        assert run.play(2, {NOTES: "new"}) == {NOTES: had}
        assert run.play(3, None) == {NOTES: had}
        check_unchanged(asked, run.folder)
    jsonl.write_all(source.folder.memory_file, rows[:1])
    with pytest.raises(UsageError, match="is not what 'square-white' read in epoch 0"):
        state_of(source.folder, IDS[3])


def test_gold_of_another_benchmark_is_withheld_when_a_state_is_taken_over(
    tmp_path: Path, tasks: list[Task]
) -> None:
    source = Played(tmp_path / "source", tasks[:1], INHERIT)
    source.play(0, {NOTES: "white", OTHER: "corners"})
    config = INHERIT.model_copy(update={"memory": f"frozen:{source.folder.path}"})
    run = Played(tmp_path / "run", tasks, config)
    take_over(config, run.folder, tasks)
    assert run.play(0, None) == {OTHER: "corners"}
    assert jsonl.read(run.folder.memory_withheld_file).rows[0]["file"] == NOTES


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"memory_form": "native"}, "--memory-form is for a memory"),
        ({"memory": "inherit", "memory_form": "native", "waves": 2}, "--waves: files that agents keep"),
        ({"memory": "inherit", "memory_form": "native", "memory_url": "postgresql://x/y"}, "is for notes"),
        ({"memory": "inherit", "memory_form": "files"}, "memory_form"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        settled_parallel(load_config(None, options), 8)


def test_an_agent_without_files_of_its_own_is_told_who_has_some() -> None:
    assert native.places_of(INHERIT, get_agent("openclaw"))[0].startswith("workspace/")
    with pytest.raises(
        UsageError, match=r"react has no memory of its own.*openclaw, openclaw_stock, opencode"
    ):
        native.places_of(INHERIT, get_agent("react"))


def test_a_frozen_run_of_another_form_or_agent_is_refused(tmp_path: Path, tasks: list[Task]) -> None:
    source = Played(tmp_path / "source", tasks, INHERIT)
    source.play(0, {NOTES: "one"})
    frozen = f"frozen:{source.folder.path}"
    with pytest.raises(UsageError, match="--memory-form native"):
        check(RunConfig(memory=frozen))
    with pytest.raises(UsageError, match=r"it holds home/\.notes/a\.md"):
        native.places_of(INHERIT.model_copy(update={"memory": frozen}), get_agent("opencode"))


RECIPE = """
[run]
command = ["/opt/venv/bin/python", "$workspace/go.py"]
[memory]
places = ["$home/.notes"]
[answer]
format = "json"
field = "said"
[files]
"$workspace/go.py" = '''
import json, pathlib
notes = pathlib.Path.home() / ".notes"
seen = (notes / "log.md").read_text() if (notes / "log.md").exists() else ""
beside = [str(path) for path in (pathlib.Path("/tmp/m"), pathlib.Path.home() / "m") if path.exists()]
beside += [path.name for path in notes.glob("*") if path.name != "log.md"]
notes.mkdir(exist_ok=True)
(notes / "log.md").write_text(seen + "|")
(notes / "guess.md").write_text("It is the white colour.")
(notes / "link").symlink_to("/etc/passwd")
for path in (pathlib.Path("/tmp/m"), pathlib.Path.home() / "m"):
    path.write_text("m")
print(json.dumps({"said": json.dumps({"answer": "red", "rationale": json.dumps([seen, beside])})}))
'''
"""


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_files_go_from_container_to_container_and_survive_kill_9(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    (tmp_path / "keeper.toml").write_text(RECIPE)
    command = [
        FIELDMARK, "run", "--benchmark", str(tiny), "--agent", "./keeper.toml", "--memory", "inherit",
        "--memory-form", "native", "--out", "out",
    ]  # fmt: skip
    episodes = tmp_path / "out" / "episodes.jsonl"
    process = spawn(command, start_new_session=True, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 200
        while not episodes.exists() or episodes.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    done = fieldmark("run", "--resume", "out")
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert [json.loads(record.rationale or "") for record in run.episodes()] == [
        ["", []], ["|", []], ["||", []], ["|||", []],
    ]  # fmt: skip
    shown = fieldmark("memory", "out")
    assert shown.stdout.startswith("memory inherit, native: 4 states, 4 files withheld; 3 episodes began")
    again = fieldmark(
        "run", "--benchmark", tiny, "--agent", "./keeper.toml", "--memory", "frozen:out", "--memory-form",
        "native", "--memory-before", "square-blue", "--tasks", "square-blue", "--out", "again",
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    [record] = RunDir.open(tmp_path / "again").episodes()
    assert json.loads(record.rationale or "") == ["||", []]
