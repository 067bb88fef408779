"""A memory × skills study of OpenCode, with the files it keeps itself: killed in the middle, gone on with.

Eight episodes: about two minutes on two idle cores.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fieldmark.memory.state import read_states
from fieldmark.rundir import RunDir
from fieldmark.trace import MemoryState
from tests.conftest import FIELDMARK, Fieldmark, spawn
from tests.model_server import Body, Call, ModelServer, Reply
from tests.real_agents import playing
from tests.real_agents.conftest import AgentImage

pytestmark = pytest.mark.timeout(1800)
STUDY = """
benchmark = "tasks.jsonl"
agent = "opencode"
memory_form = "native"
parallel = 1
time_limit = 600
probe = false

[matrix]
memory = ["off", "inherit"]
skills = ["none", "all"]
"""
WRITE = "mkdir -p ~/.config/opencode; echo MARK-rules > ~/.config/opencode/AGENTS.md"
ANSWER = Reply('{"answer": "red", "confidence": 0.9, "rationale": "seen"}')


def script(body: Body) -> Reply:
    """The first task writes, then answers; what a request holds decides, so a killed run is told the same."""
    told = json.dumps(body["messages"])
    if "Case first" in told and all(row["role"] != "tool" for row in body["messages"]):
        return Reply(calls=[Call("bash", {"command": WRITE, "description": "note it"})])
    return ANSWER


def rows(study: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(study.glob("*/episodes.jsonl"))}


def begun_with(run: RunDir) -> dict[str, int]:
    """Task → files that its episode began with."""
    return {
        record.id: sum(
            event.files
            for event in run.trace(record)
            if isinstance(event, MemoryState) and event.at == "lease"
        )
        for record in run.episodes()
    }


def test_killed_in_the_middle_it_goes_on_with_the_files_it_had(
    agent_image: AgentImage, fieldmark: Fieldmark, tmp_path: Path, engine: Any
) -> None:
    agent_image("opencode")
    playing.benchmark(tmp_path, {"first": [], "second": []})
    (tmp_path / "mine.toml").write_text(STUDY)
    study = tmp_path / "runs" / "mine"
    with ModelServer(script, models=("scripted",)) as server:
        asked = ["run", "mine.toml", "--model", "scripted", "--base-url", server.url]
        run = spawn([FIELDMARK, *asked], cwd=tmp_path)
        deadline = time.monotonic() + 900
        while sum(each.count(b"\n") for each in rows(study).values()) < 5:  # in the first arm that inherits
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        run.kill()
        run.communicate()
        kept = rows(study)
        done = fieldmark(*asked)
        assert done.returncode == 0, done.stderr
    after = rows(study)
    assert len(after) == 4
    for name, lines in after.items():
        arm = RunDir(study / name)
        assert lines.startswith(kept.get(name, b""))
        assert Counter(each.id for each in arm.episodes()) == {"first": 1, "second": 1}
        inherits = "memory-inherit" in name
        assert begun_with(arm).get("second", 0) == (1 if inherits else 0)
        states = read_states(arm.memory_file) if inherits else []
        assert [state.files for state in states if state.id == "first"] == ([1] if inherits else [])
