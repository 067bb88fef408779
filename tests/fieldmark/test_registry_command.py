"""`fieldmark registry` as a user types it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import Fieldmark

FLEET = "registration,type,model,source,date\nD-AIMA,A388,A380-841,fleet,2024-03-01\n,,,,\nD-ABYA,B748,,,x\n"


@pytest.fixture
def registry(fieldmark: Fieldmark) -> Fieldmark:
    return partial(fieldmark, "registry")


def test_import_reports_bad_rows_and_look_up_finds(registry: Fieldmark, tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text(FLEET)
    done = registry(
        "import", tmp_path / "fleet.csv", "--out", tmp_path / "out.sqlite", "--date", "2026-01-31"
    )
    assert done.returncode == 0
    assert "fleet.csv: 1 record of 2026-01-31" in done.stdout
    assert "2 bad rows left out, the first: line 3:" in done.stderr
    done = registry("lookup", "d-a1ma", "--registry", tmp_path / "out.sqlite", "--json")
    row = json.loads(done.stdout)
    assert not row["found"]
    assert row["candidates"][0]["record"]["model"] == "A380-841"
    done = registry("lookup", "D-AIMA", "--registry", tmp_path / "out.sqlite")
    assert "- D-AIMA: A380-841, type A388 (source fleet, 2024-03-01)" in done.stdout


def test_without_a_registry_the_sample_is_searched_and_named(registry: Fieldmark, tmp_path: Path) -> None:
    done = registry("lookup", "N8710M")
    assert done.returncode == 0
    assert "737-8" in done.stdout
    assert "only the bundled sample" in done.stderr


def test_what_is_no_registry_is_exit_2_and_one_line(registry: Fieldmark, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("hello\n")
    done = registry("import", tmp_path / "x.csv", "--out", tmp_path / "out.sqlite")
    assert done.returncode == 2
    assert "none of the formats" in done.stderr
    assert done.stderr.count("\n") == 1
