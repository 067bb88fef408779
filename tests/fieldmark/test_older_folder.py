"""Folders of other versions: what the first one wrote still opens; what cannot be gone on with says why.

`tests/data/run_of_the_first_version` was written by the code of the first commit (run version 1).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fieldmark.rundir import RUN_VERSION, RunDir
from tests.conftest import Fieldmark

FIRST = Path(__file__).parents[1] / "data" / "run_of_the_first_version"


@pytest.fixture
def first(tmp_path: Path) -> RunDir:
    shutil.copytree(FIRST, tmp_path / "first")
    return RunDir.open(tmp_path / "first")


def test_a_run_of_the_first_version_opens(fieldmark: Fieldmark, first: RunDir) -> None:
    told = [
        fieldmark("report", first.path),
        fieldmark("show", first.path, "plane"),
        fieldmark("sql", first.path, "SELECT id FROM episodes"),
        fieldmark("judge", first.path, "--judge", "exact"),
    ]
    assert [each.returncode for each in told] == [0] * 4, [each.stderr for each in told]
    assert "1/2 done" in told[0].stdout + told[0].stderr
    assert next(iter(first.verdicts().values())).label == "correct"


@pytest.mark.parametrize(
    ("changed", "remedy"),
    [
        ({"run_version": RUN_VERSION + 1}, "written by a newer fieldmark"),
        ({"config": {"agent": "react", "turbo": True}}, "written by fieldmark 0.1.0 with settings"),
        ({}, "does not tell what the run was asked to do"),
    ],
)
def test_what_cannot_be_gone_on_with_says_which_version_wrote_it(
    fieldmark: Fieldmark, first: RunDir, changed: dict[str, object], remedy: str
) -> None:
    first.write_config({**first.config(), **changed})
    told = fieldmark("run", "--resume", first.path)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert remedy in told.stderr
