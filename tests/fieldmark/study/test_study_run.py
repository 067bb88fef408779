"""A whole study in real containers: killed in the middle, gone on with, added to."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK, Fieldmark, spawn

STUDY = """
benchmark = "fieldmark-mini"
limit = 2
probe = false
parallel = 2

[matrix]
tools = ["answer", "aircraft_registry,answer"]
skill_calls = ["helpful", "strict"]
"""
NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


def rows(study: Path) -> dict[str, bytes]:
    """Run → its episodes.jsonl."""
    return {path.parent.name: path.read_bytes() for path in sorted(study.glob("*/episodes.jsonl"))}


def episodes(study: Path) -> int:
    return sum(each.count(b"\n") for each in rows(study).values())


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_killed_in_the_middle_a_study_goes_on_without_changing_a_number(
    fieldmark: Fieldmark, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(STUDY)
    study = tmp_path / "runs" / "mine"
    run = spawn([FIELDMARK, "run", "mine.toml"], cwd=tmp_path)
    deadline = time.monotonic() + 90
    while episodes(study) < 3:  # in the second of four runs
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.kill()
    run.communicate()
    kept = rows(study)

    done = fieldmark("run", "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "run 4 of 4, tools-aircraft-registry+answer_skill_calls-strict: 2/2 episodes" in done.stderr
    assert "8/8 of the study" in done.stderr
    after = rows(study)
    assert len(after) == 4
    for name, lines in after.items():
        assert lines.startswith(kept.get(name, b""))
        assert Counter(each.id for each in RunDir(study / name).episodes()) == {"mini-01": 1, "mini-02": 1}

    again = fieldmark("run", "mine.toml", env=NO_ENGINE)  # nothing is left to run: no engine is asked
    assert again.returncode == 0, again.stderr
    assert (rows(study), again.stdout) == (after, done.stdout)

    pictures = [path for path in study.glob("*/blobs/*") if path.suffix in (".png", ".jpg")]
    assert len({path.stat().st_ino for path in pictures}) == len({path.name for path in pictures})

    (tmp_path / "mine.toml").write_text(STUDY.replace("limit = 2", "limit = 3"))
    changed = fieldmark("run", "mine.toml", env=NO_ENGINE)
    assert changed.returncode == 2
    assert "limit: 2 → 3" in changed.stderr

    (study / "study.json").unlink()
    lost = fieldmark("run", "mine.toml", env=NO_ENGINE)
    assert lost.returncode == 2
    assert "holds runs of the study and no study.json" in lost.stderr


def test_a_bad_value_is_refused_before_anything_begins(fieldmark: Fieldmark, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(STUDY.replace('["answer"', '["answer", "telescope"'))
    done = fieldmark("run", "mine.toml")
    assert done.returncode == 2
    assert "arm tools-telescope_skill_calls-helpful: unknown tool 'telescope'" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_dry_run_tells_what_the_study_would_take_and_find(fieldmark: Fieldmark, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(STUDY)
    done = fieldmark("run", "mine.toml", "--orders", 3, "--limit", 20, "--dry-run", env=NO_ENGINE)
    assert done.returncode == 0, done.stderr
    assert "4 arms × 3 orders × 20 tasks × 1 epoch: 240 episodes to run" in done.stdout
    assert "9,600 model calls" in done.stdout
    assert "an improvement of" in done.stdout
    assert not (tmp_path / "runs").exists()
