"""A report is the same bytes wherever it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fieldmark import jsonl
from tests.evals.report.full_run import full_run

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def written(run: Path, zone: str) -> bytes:
    command = [str(Path(sys.executable).with_name("fieldmark")), "report", str(run)]
    subprocess.run(command, env={**os.environ, "TZ": zone}, check=True, capture_output=True)
    return (run / "report.html").read_bytes()


def test_the_page_does_not_depend_on_the_time_zone(build_run: BuildRun) -> None:
    run = full_run(build_run("zones", started="2026-03-08T07:30:00Z"))
    rows = [row | {"started": "2026-03-08T09:59:59Z"} for row in jsonl.read(run.episodes_file).rows]
    jsonl.write_all(run.episodes_file, rows)  # an hour that America/New_York skips lies near
    here, there = written(run.path, "Asia/Kolkata"), written(run.path, "America/New_York")
    assert here == there
    assert b"2026-03-08T07:30:00Z" in here
