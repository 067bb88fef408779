"""The doctor on this machine: what is missing is told with its remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldmark.doctor.machine import check_machine
from fieldmark.needs import Needs
from tests.conftest import Fieldmark


def test_parallel_fits_memory_and_cores() -> None:
    gigabyte = 2**30
    assert Needs().fit(16, 24 * gigabyte) == 8
    assert Needs().fit(2, 24 * gigabyte) == 2
    assert Needs(memory_mb=2560, processors=2.0).fit(16, 8 * gigabyte) == 2
    assert Needs().fit(1, gigabyte / 2) == 1


def test_a_machine_without_tesseract_is_told_once_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 3-01."""
    monkeypatch.setenv("PATH", str(tmp_path))
    [found] = [check for check in check_machine(tmp_path) if check.name == "Tesseract"]
    assert (found.mark, found.remedy) == ("WARN", "apt-get install tesseract-ocr")


def test_without_an_engine_it_fails_and_says_how_to_have_one(fieldmark: Fieldmark) -> None:
    done = fieldmark("doctor", env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    assert done.returncode == 1
    assert done.stderr == ""
    first = done.stdout.splitlines()[0]
    assert first.startswith("FAIL  Docker engine: no Docker engine answers")
    assert "make setup" in first


@pytest.mark.usefixtures("sandbox_image")
def test_a_machine_that_is_ready_passes(fieldmark: Fieldmark) -> None:
    done = fieldmark("doctor", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    marks = {check["name"]: check["mark"] for check in told["machine"]}
    assert marks["Docker engine"] == marks["sandbox image"] == "PASS"
    assert "model" not in told
