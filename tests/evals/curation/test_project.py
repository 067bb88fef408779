"""The state of a curation: what is decided holds, is told apart from what stood, and survives a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate


def candidate(number: int, class_name: str = "heron") -> Candidate:
    sha256 = f"{number:064x}"[::-1]
    return Candidate(
        sha256[:16], sha256, f"pictures/{number}.png", class_name, class_name, "photos", "CC0-1.0"
    )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.create(tmp_path / "set")
    for number in range(1, 4):
        made.add(candidate(number))
    return made


def test_only_what_every_step_keeps_is_after_it(project: Project) -> None:
    one, two, three = (each.id for each in project.candidates())
    for name in (one, two, three):
        project.decide("import", name, "keep", "readable")
    project.decide("screen.first", one, "keep", "hard class")
    project.decide("screen.first", two, "open", "the model did not answer")
    assert [each.id for each in project.candidates(after="screen.first")] == [one]
    first = project.funnel()[1]
    assert (first.reached, first.keep, first.drop, first.open, first.classes) == (3, 1, 0, 2, 1)


def test_a_decision_handed_in_again_changes_nothing(project: Project) -> None:
    name = next(project.candidates()).id
    told = [
        project.decide("leakage", name, "keep", "clean", evidence={"hits": 0}),
        project.decide("leakage", name, "keep", "clean", evidence={"hits": 0}),
        project.decide("leakage", name, "keep", "clean", evidence={"hits": 1}),
        project.decide("leakage", name, "drop", "leaked", who="ann"),
    ]
    assert told == ["new", "same", "changed", "flipped"]
    assert [each.verdict for each in project.history(name)] == ["keep", "keep", "drop"]
    held = project.decision("leakage", name)
    assert held
    assert (held.who, held.why) == ("ann", "leaked")


def test_a_kill_loses_no_decision(project: Project) -> None:
    """A process is killed in the middle of deciding: what it said it had decided is there."""
    code = (
        "import sys; from pathlib import Path; from fieldmark.evals.curation.project import Project\n"
        "project = Project.open(Path(sys.argv[1])); name = next(project.candidates()).id\n"
        "for n in range(10**6):\n project.decide('audit', name, 'open', str(n)); print(n, flush=True)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(project.folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    for line in process.stdout:
        if int(line) >= 20:
            os.kill(process.pid, signal.SIGKILL)
            break
    said = max([20, *(int(line) for line in process.stdout.read().split())])
    process.wait()
    name = next(project.candidates()).id
    assert len(project.history(name)) >= said + 1


def test_a_folder_that_is_none_and_a_wrong_setting_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="curate new"):
        Project.open(tmp_path)
    folder = Project.create(tmp_path / "set").folder
    (folder / "curate.toml").write_text("[screen.first]\nkeep_below = 40\n")
    with pytest.raises(UsageError, match=r"screen\.first\.keep_below"):
        Project.open(folder)
