"""An arm that reads the memory of another arm of its study."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark import jsonl
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.study.asking import read_study
from fieldmark.study.carrying_out import carry_out
from fieldmark.study.folder import RecordedRun, RecordedStudy, StudyDir
from fieldmark.study.study import Study
from fieldmark.study.unchanged import asked

STUDY = """
benchmark = "nowhere"

[arms.cold]
memory = "off"

[arms.warm]
memory = "inherit"

[arms.frozen]
memory = "frozen:study/warm"
"""


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def finished(path: Path) -> RunDir:
    run = RunDir.create(path)
    run.write_config({"state": "finished", "epochs": 1, "memory": {"mode": "inherit"}})
    jsonl.write_all(run.tasks_file, [{"id": "t"}])
    record = EpisodeRecord(
        id="t", status="answered", agent="a", model="m", answer="x", seconds=1, charged_seconds=1,
        started="now", trace="t.jsonl",
    )  # fmt: skip
    run.pending_trace("t", 0, 0).touch()
    run.commit(record, run.pending_trace("t", 0, 0))
    run.add_verdict(Verdict(id="t", label="incorrect", score=0, judge="exact"))
    run.memory_file.touch()
    return run


def recorded(study: Study) -> None:
    """Its study.json, of a study that had only the first two arms when it was begun."""
    arms = [run for run in study.runs if run.arm.name != "frozen"]
    folder = StudyDir(study.path)
    folder.create()
    folder.write(
        RecordedStudy(
            name="study", started="2026-11-30T10:00:00Z", baseline="cold", axes=["memory"],
            benchmark={"name": "nowhere", "version": "1"},
            arms={"cold": {"memory": "off"}, "warm": {"memory": "inherit"}},
            runs=[RecordedRun(run=run.name, arm=run.arm.name) for run in arms],
        ),
        {run.name: asked(run.config) for run in arms},
    )  # fmt: skip


def test_it_is_refused_until_that_arm_is_finished(toml: Path) -> None:
    study = read_study(toml, {"out": Path("study")})
    with pytest.raises(UsageError, match=r"arm frozen reads the memory of warm, .*then add it"):
        carry_out(study, "", print)
    assert not study.path.exists()
    run = finished(Path("study") / "warm")
    recorded(study)
    with pytest.raises(UsageError, match="nowhere"):  # the next thing that is wrong with it
        carry_out(study, "", print)
    run.write_config({**run.config(), "state": "interrupted"})
    with pytest.raises(UsageError, match="is not finished"):
        carry_out(study, "", print)


def test_a_run_that_is_not_there_is_named_with_its_arm(toml: Path) -> None:
    toml.write_text(STUDY.replace("study/warm", "elsewhere"))
    with pytest.raises(UsageError, match="arm frozen: elsewhere is not a run folder"):
        carry_out(read_study(toml, {"out": Path("study")}), "", print)


def test_a_study_that_goes_on_from_another_folder_reads_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    was = asked(RunConfig(memory="frozen:runs/A"))
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert asked(RunConfig(memory="frozen:../runs/A")) == was
