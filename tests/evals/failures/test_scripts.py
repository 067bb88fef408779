"""Twelve episodes of scripted agents in real containers: facts find how they fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_facts_find_how_three_scripts_fail() -> None:
    scripts = "calls_missing_tools,misjudges,never_looks"
    command = [sys.executable, "-m", "benchmarks.failure_taxonomy", "--modes", scripts, "--limit", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "12 episodes, 12 not correct and judged; told apart: none." in done.stdout
    assert "| all | 12 | 1.00 |" in done.stdout
    assert "Sub-class, where the class is right: 100.0 % (4/4)." in done.stdout
    assert "Link, where the script fixes it and facts decide: 100.0 % (12/12)." in done.stdout
