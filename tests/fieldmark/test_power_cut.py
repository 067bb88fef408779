"""What is on disk before what: a file's content, its name in its folder, then the row that counts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files and folders that were flushed, in order."""
    names: list[str] = []
    really = os.fsync

    def fsync(fd: int) -> None:
        names.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        really(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    return names


def test_an_episode_is_counted_when_its_trace_and_the_trace_s_name_are_on_disk(
    tmp_path: Path, flushed: list[str]
) -> None:
    run = RunDir.create(tmp_path / "run")
    for number, counted in ((0, ["episodes.jsonl", "run"]), (1, ["episodes.jsonl"])):
        pending = run.pending_trace(f"t{number}", 0, 0)
        pending.write_text("{}\n")
        record = EpisodeRecord(
            id=f"t{number}", status="empty", agent="react", model="m", seconds=1, charged_seconds=1,
            started="2026-11-30T10:00:00Z", trace=f"t{number}.jsonl",
        )  # fmt: skip
        flushed.clear()
        run.commit(record, pending)
        assert flushed == [pending.name, "traces", *counted]


def test_what_a_run_is_asked_to_do_is_on_disk_under_its_name(tmp_path: Path, flushed: list[str]) -> None:
    run = RunDir.create(tmp_path / "run")
    run.write_config({"seed": 1})
    assert flushed == [".run.json.new", "run"]
