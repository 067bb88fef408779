"""From `--model replay:RUN` to a configuration, and what is refused before a run begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import replaying
from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.task import Gold, Task

MODEL = {"name": "scripted", "sees": False, "space": "norm1000", "force": {"temperature": 0}}
DESCRIBED = {
    "id": "a", "agent": "react", "tools": ["ocr"], "model": MODEL, "eyes": {"name": "seer"},
    "benchmark": {"name": "mini", "version": "1"}, "web": {"mode": "offline"},
    "refused": [{"id": "broken", "reason": "no picture"}],
}  # fmt: skip


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A run folder with the episode of one task."""
    run = RunDir.create(tmp_path / "a")
    run.write_config(DESCRIBED)
    commit(run, "one")
    return run.path


def commit(run: RunDir, task: str) -> None:
    episode = EpisodeRecord(
        id=task, status="answered", agent="react", model="scripted", seconds=1, charged_seconds=1,
        started="2026-11-30T10:00:00Z", trace=f"{task}.jsonl",
    )  # fmt: skip
    pending = run.pending_trace(task, 0, 0)
    pending.touch()
    run.commit(episode, pending)


def task(name: str) -> Task:
    return Task(id=name, question="?", image=Path("x.png"), gold=Gold(answer="x"))


def test_all_of_the_models_comes_from_the_recording(recorded: Path) -> None:
    config, recording = replaying.settled(load_config(None, {"model": f"replay:{recorded}"}))
    assert config.replay == recorded
    assert config.model.model_dump(include={*MODEL}) == MODEL
    assert config.eyes is not None
    assert config.eyes.name == "seer"
    assert replaying.settled(config)[0] == config  # as a resumed run reads it
    assert recording is not None
    described = replaying.describe(recording)["replays"]
    assert (described["run"], len(described["episodes_sha256"])) == ("a", 64)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"base_url": "http://x/v1"}, "--base-url: a replay asks no server"),
        ({"force": {"temperature": 1}}, "--force: a replayed model's parameters are those of its recording"),
        ({"eyes": "other"}, "--eyes other: a replay has the eyes of its recording"),
        ({"model": "replay:nowhere"}, "nowhere is not a run folder"),
        ({"model": "scripted", "strict": True}, "--strict compares with a recording"),
    ],
)
def test_what_a_replay_cannot_have_is_refused(recorded: Path, flags: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        replaying.settled(load_config(None, {"model": f"replay:{recorded}", **flags}))


def test_a_run_without_a_finished_episode_is_refused(tmp_path: Path) -> None:
    RunDir.create(tmp_path / "b").write_config(DESCRIBED)
    with pytest.raises(UsageError, match="has no finished episode to replay"):
        replaying.settled(load_config(None, {"model": f"replay:{tmp_path / 'b'}"}))


def test_a_task_that_is_not_recorded_is_refused(recorded: Path) -> None:
    """One whose picture was refused then will be refused again."""
    _, recording = replaying.settled(load_config(None, {"model": f"replay:{recorded}"}))
    assert recording is not None
    replaying.check_tasks(recording, [task("one"), task("broken")], 1, recorded)
    with pytest.raises(
        UsageError, match="no episode of task 'two' and 1 more: name recorded tasks with --tasks"
    ):
        replaying.check_tasks(recording, [task("one"), task("two"), task("three")], 1, recorded)
    with pytest.raises(UsageError, match=r"no episode of task 'one' in epoch 1.*fewer --epochs"):
        replaying.check_tasks(recording, [task("one")], 2, recorded)


def test_other_settings_are_told(recorded: Path) -> None:
    _, recording = replaying.settled(load_config(None, {"model": f"replay:{recorded}"}))
    assert recording is not None
    assert replaying.warning(recording, DESCRIBED) is None
    other = {**DESCRIBED, "agent": "closed_book", "web": {"mode": "live"}}
    assert replaying.warning(recording, other) == (
        "replay: not as in a: agent, web; requests that differ are counted as drift"
    )


def test_notes_that_would_be_others_are_told(recorded: Path) -> None:
    """Which notes an episode inherits hangs on the tasks before it; where they are kept does not matter."""
    memory, order = {"mode": "inherit", "waves": 1, "store": "sqlite"}, {"number": 1, "sha256": "a"}
    run = RunDir.open(recorded)
    run.write_config({**DESCRIBED, "memory": memory, "order": order})
    _, recording = replaying.settled(load_config(None, {"model": f"replay:{recorded}"}))
    assert recording is not None
    for memory_now, order_now, told in (
        ({**memory, "store": "postgres"}, order, None),
        (memory, {"number": 2, "sha256": "b"}, "order"),
        ({**memory, "waves": 2}, order, "memory"),
        ({}, order, "memory, order"),
    ):
        line = replaying.warning(recording, {**DESCRIBED, "memory": memory_now, "order": order_now})
        assert line == (told and f"replay: not as in a: {told}; requests that differ are counted as drift")


def test_a_resumed_run_goes_on_with_the_recording_that_it_began_with(recorded: Path, tmp_path: Path) -> None:
    config, recording = replaying.settled(load_config(None, {"model": f"replay:{recorded}"}))
    begun = {"model": {**MODEL, **replaying.describe(recording)}}
    replaying.check_unchanged(config, begun, tmp_path / "b")
    with pytest.raises(UsageError, match="does not know where the run a lies"):
        replaying.check_unchanged(config.model_copy(update={"replay": None}), begun, tmp_path / "b")
    commit(RunDir.open(recorded), "two")
    with pytest.raises(UsageError, match="has changed since"):
        replaying.check_unchanged(config, begun, tmp_path / "b")
