"""The folder of a study: alone knows its paths, and which runs it has.

study.json  <run>/ (run folders)  blobs/ (every picture once)  report.html
private/asked.json: what each run was asked for, with paths of this machine
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from fieldmark.errors import UsageError
from fieldmark.run_reader import STUDY_JSON
from fieldmark.rundir import RunDir, hold
from fieldmark.whole_file import write_whole

STUDY_VERSION = 1


class RecordedRun(BaseModel):
    """A run of a study: the folder `run` is its `arm` in that `order` (None: the study has no orders)."""

    model_config = ConfigDict(extra="allow")

    run: str
    arm: str
    order: int | None = None


class RecordedStudy(BaseModel):
    """study.json. `arms`: arm → axis → its value, for people. `benchmark`: its name and version.

    Runs stay in their study when its file no longer asks for them.
    """

    model_config = ConfigDict(extra="allow")

    study_version: int = STUDY_VERSION
    name: str
    started: str
    baseline: str
    axes: list[str]
    benchmark: dict[str, str]
    arms: dict[str, dict[str, str]]
    runs: list[RecordedRun]

    @model_validator(mode="after")
    def _whole(self) -> RecordedStudy:
        if not {"name", "version"} <= self.benchmark.keys():
            raise ValueError("its benchmark has no name or no version")
        if strangers := {self.baseline, *(run.arm for run in self.runs)} - self.arms.keys():
            raise ValueError(f"it has no arm {min(strangers)}")
        for arm, values in self.arms.items():
            if lacking := set(self.axes) - values.keys():
                raise ValueError(f"its arm {arm} has no value of {min(lacking)}")
        return self


class StudyDir:
    """A study's folder, there or to come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.study_json = path / STUDY_JSON
        self.blobs = path / "blobs"
        self.private = path / "private"
        self.asked_file = self.private / "asked.json"
        self.report_html = path / "report.html"

    @classmethod
    def open(cls, path: Path) -> StudyDir:
        """An existing study; UsageError when there is none, or when a newer fieldmark wrote it."""
        study = cls(path)
        if not study.begun:
            raise UsageError(f"{path} is not a study (no {STUDY_JSON}): name one made by `fieldmark run`")
        study.recorded()
        return study

    @property
    def begun(self) -> bool:
        return self.study_json.exists()

    def create(self) -> None:
        """Make the folder; UsageError when it holds something else or cannot be written."""
        if (self.path / "run.json").exists():
            raise UsageError(f"{self.path} holds a run: name another folder for the study with --out")
        try:
            for folder in (self.path, self.blobs, self.private):
                folder.mkdir(parents=True, exist_ok=True)
            self.private.chmod(0o700)
        except OSError as error:
            raise UsageError(
                f"cannot write to {self.path}: {error.strerror}; name a writable folder with --out"
            ) from None

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder meanwhile; a second process that would carry the study out gets a UsageError."""
        held = hold(self.path)
        try:
            yield
        finally:
            os.close(held)

    def write(self, recorded: RecordedStudy, asked: dict[str, dict[str, str]]) -> None:
        """What the study is, and what each of its runs was asked for (`unchanged.asked`)."""
        _replace(self.asked_file, asked)
        _replace(self.study_json, recorded.model_dump(mode="json"))

    def recorded(self) -> RecordedStudy:
        """study.json; UsageError when it cannot be read."""
        try:
            loaded = json.loads(self.study_json.read_text(encoding="utf-8"))
            if int(loaded["study_version"]) > STUDY_VERSION:
                raise UsageError(f"{self.path} was written by a newer fieldmark: open it with that")
            return RecordedStudy.model_validate(loaded)
        except (OSError, ValueError, TypeError, KeyError) as error:
            told = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            why = " ".join(told.split())[:100]
            raise UsageError(
                f"{self.study_json} cannot be read ({why}): restore it or name another --out"
            ) from None

    def asked(self) -> dict[str, dict[str, str]]:
        """What `write` wrote; UsageError without it, for nobody can tell then whether a setting changed."""
        try:
            loaded: dict[str, dict[str, str]] = json.loads(self.asked_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UsageError(
                f"{self.asked_file} is not there or cannot be read: this copy of the study can be reported, "
                "not gone on with; restore it or name another --out"
            ) from None
        return loaded

    def run(self, name: str) -> RunDir:
        """A run of the study, whether it has begun or not."""
        return RunDir(self.path / name)

    def begun_runs(self) -> list[tuple[RecordedRun, RunDir]]:
        """The runs that have begun, in the order of study.json."""
        found = [(each, self.run(each.run)) for each in self.recorded().runs]
        return [(each, run) for each, run in found if run.run_json.exists()]


def runs_at(path: Path) -> list[RunDir]:
    """A run folder, or every run of a study that has begun. UsageError when it is neither."""
    if not StudyDir(path).begun:
        return [RunDir.open(path)]
    runs = [run for _, run in StudyDir.open(path).begun_runs()]
    if not runs:
        raise UsageError(f"no run of {path} has begun: start it with `fieldmark run`")
    return [RunDir.open(run.path) for run in runs]


def _replace(path: Path, content: Any) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    write_whole(path, f"{text}\n".encode("utf-8", "replace"))
