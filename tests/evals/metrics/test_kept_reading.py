"""Traces of a large run are read once: later commands say what the first said, and what new traces say."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.frames import load
from fieldmark.evals.metrics import kept_reading, reading
from fieldmark.evals.metrics.kept_reading import read_traces
from fieldmark.evals.metrics.reading import Read
from fieldmark.evals.metrics.summary import summarise
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_reading, "WORTH", 2)
    return tmp_path / "cache" / "fieldmark" / "readings"


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    """Three episodes: a failed call, a skill and a note that was recalled, no trace at all."""
    run = build_run("demo")
    for task in ("a", "b", "c"):
        run.task(task)
    run.episode("a", verdict="correct").step(("ocr", "ok"), ("web_search", "failed")).answer("Saab 340")
    run.episode("b").step(("read_skill", "ok"), ("recall", "ok")).step(("crop_zoom", "silent")).answer("?")
    run.episode("c").step(("ocr", "ok"))
    folder = run.finish()
    folder.trace_file(folder.episodes()[2]).unlink()
    return folder


@pytest.fixture
def read_anew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the episodes whose traces are read."""
    seen: list[str] = []

    def read_trace(run: RunDir, record: EpisodeRecord) -> Read | None:
        seen.append(record.id)
        return reading.read_trace(run, record)

    monkeypatch.setattr(kept_reading, "read_trace", read_trace)
    return seen


def test_what_was_kept_is_what_the_traces_say(run: RunDir, read_anew: list[str]) -> None:
    first, table = summarise(run), load(run.path).episodes
    assert read_anew == ["a", "b", "c", "c"]  # a trace that is not there is looked for each time
    read_anew.clear()
    assert summarise(run) == first
    assert load(run.path).episodes.equals(table)
    assert read_anew == ["c", "c"]
    assert read_traces(run, run.episodes()) == {
        record.key: reading.read_trace(run, record) for record in run.episodes()
    }


def test_a_trace_that_changed_is_read_anew_and_kept_beside_the_others(
    run: RunDir, read_anew: list[str]
) -> None:
    read_traces(run, run.episodes())
    shutil.copy(run.trace_file(run.episodes()[1]), run.trace_file(run.episodes()[0]))
    read_anew.clear()
    found = read_traces(run, run.episodes())
    assert (read_anew, found["a", 0]) == (["a", "c"], found["b", 0])
    read_traces(run, run.episodes())
    assert read_anew == ["a", "c", "c"]


def test_a_line_that_a_kill_left_half_written_takes_no_other_with_it(
    run: RunDir, cache: Path, read_anew: list[str]
) -> None:
    first = read_traces(run, run.episodes())
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    read_anew.clear()
    assert read_traces(run, run.episodes()) == first
    assert read_traces(run, run.episodes()) == first
    assert read_anew == ["b", "c", "c"]


@pytest.mark.parametrize("content", [b"", b"\x00\xff{", b"[1]\n", b'{"code": "of another version"}\n'])
def test_a_file_of_other_code_is_written_anew(
    run: RunDir, cache: Path, read_anew: list[str], content: bytes
) -> None:
    first = read_traces(run, run.episodes())
    (file,) = cache.iterdir()
    file.write_bytes(content)
    read_anew.clear()
    assert read_traces(run, run.episodes()) == first
    assert read_traces(run, run.episodes()) == first
    assert read_anew == ["a", "b", "c", "c"]


def test_where_nothing_can_be_kept_all_is_read(run: RunDir, cache: Path, read_anew: list[str]) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder would be")
    first = read_traces(run, run.episodes())
    assert read_traces(run, run.episodes()) == first
    assert read_anew == ["a", "b", "c"] * 2


def test_a_small_run_leaves_nothing_in_the_cache(
    run: RunDir, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_reading, "WORTH", 4)
    read_traces(run, run.episodes())
    assert not cache.exists()


def test_what_is_of_a_removed_run_goes_with_the_next_one(run: RunDir, cache: Path) -> None:
    read_traces(run, run.episodes())
    (old,) = cache.iterdir()
    (left := cache / "x.1.new").write_bytes(old.read_bytes())
    os.utime(left, (0, 0))
    moved = run.path.rename(run.path.with_name("moved"))
    read_traces(RunDir.open(moved), RunDir.open(moved).episodes())
    assert old not in [*cache.iterdir()]
    assert len([*cache.iterdir()]) == 1
