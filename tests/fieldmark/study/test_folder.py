"""The folder of a study: damaged, or held by another process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.study.folder import RecordedRun, RecordedStudy, StudyDir, runs_at

WHOLE: dict[str, Any] = {
    "name": "mine", "started": "2026-11-30T10:15:00Z", "baseline": "off", "axes": ["memory"],
    "benchmark": {"name": "constructed", "version": "1"}, "arms": {"off": {"memory": "off"}},
    "runs": [RecordedRun(run="off", arm="off")],
}  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> StudyDir:
    study = StudyDir(tmp_path / "study")
    study.create()
    study.write(RecordedStudy(**WHOLE), {})
    return study


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"baseline": "on"}, "it has no arm on"),
        ({"runs": [RecordedRun(run="on", arm="on")]}, "it has no arm on"),
        ({"axes": ["memory", "skills"]}, "its arm off has no value of skills"),
        ({"benchmark": {}}, "its benchmark has no name or no version"),
        ({"runs": None}, "Input should be a valid list"),
    ],
)
def test_a_damaged_study_says_what_is_wrong(study: StudyDir, changed: dict[str, Any], why: str) -> None:
    study.write(RecordedStudy.model_construct(**{**WHOLE, **changed}), {})
    with pytest.raises(UsageError, match=rf"study.json cannot be read \(.*{why}.*\): restore it"):
        StudyDir.open(study.path)


def test_a_second_process_is_refused(study: StudyDir) -> None:
    with study.lock(), pytest.raises(UsageError, match="another fieldmark process is writing"), study.lock():
        pass
    with study.lock():
        pass


def test_a_study_without_a_run_has_none_to_work_on(study: StudyDir) -> None:
    with pytest.raises(UsageError, match=f"no run of {study.path} has begun"):
        runs_at(study.path)
