"""Six episodes of scripted agents in real containers: facts find how they fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_facts_find_how_three_scripts_fail() -> None:
    scripts = "calls_missing_tools,misjudges,never_looks"
    command = [sys.executable, "-m", "benchmarks.failure_taxonomy", "--modes", scripts, "--limit", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "6 episodes, 6 not correct and judged; told apart: none." in done.stdout
    assert "| all | 6 | 1.00 |" in done.stdout
    assert "Sub-class, where the class is right: 100.0 % (2/2)." in done.stdout
    assert "Link, where the script fixes it and facts decide: 100.0 % (6/6)." in done.stdout
