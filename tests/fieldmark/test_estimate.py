"""`run --dry-run`: what a run would take, without an engine, a server or a run folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.estimate import estimate, lines
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.trace import Tokens
from tests.conftest import Fieldmark

NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


def finished(path: Path, model: str = "qwen", state: str = "finished", calls: int = 4) -> Path:
    """A run of two episodes that took `calls` calls, 1,000 tokens, 0.02 USD (one known) and 90 s each."""
    run = RunDir.create(path)
    run.write_config({"state": state, "agent": "react", "model": {"name": model}})
    for number, cost in enumerate((0.02, None)):
        record = EpisodeRecord(
            id=f"t{number}", status="answered", agent="react", model=model, seconds=90, charged_seconds=90,
            counts={"model_calls": calls}, tokens=Tokens(input=900, output=100), cost=cost,
            started="2026-11-30T10:00:00Z", trace=f"t{number}.jsonl",
        )  # fmt: skip
        run.pending_trace(record.id, 0, 0).touch()
        run.commit(record, run.pending_trace(record.id, 0, 0))
    return path


def config(tiny: Path, runs: Path, **flags: Any) -> Any:
    return load_config(None, {"benchmark": str(tiny), "model": "qwen", "out": runs / "next", **flags})


def test_limits_are_the_upper_bound(tiny: Path, tmp_path: Path) -> None:
    told = estimate(config(tiny, tmp_path, parallel=4, max_calls=10, max_tokens=5000, time_limit=360))
    assert (told.arms, told.tasks, told.epochs, told.episodes) == (1, 4, 1, 4)
    assert told.at_most.model_dump() == {"calls": 40, "tokens": 20000, "usd": None, "hours": 0.1}
    assert told.estimated is None
    assert "nothing to go by" in lines(told)[-1]


def test_an_earlier_run_of_the_same_agent_and_model_says_what_it_will_take(
    tiny: Path, tmp_path: Path
) -> None:
    old = finished(tmp_path / "old", calls=8)
    os.utime(old / "run.json", (1, 1))
    finished(tmp_path / "other", model="gpt")
    finished(tmp_path / "broken", state="interrupted")
    new = finished(tmp_path / "new")
    told = estimate(config(tiny, tmp_path, parallel=2))
    assert told.like == str(new)
    assert told.estimated is not None
    assert told.estimated.model_dump() == {"calls": 16, "tokens": 4000, "usd": 0.08, "hours": 0.05}
    assert lines(told)[-1] == (
        f"estimated (as {new}, 2 episodes): 16 model calls, 4,000 tokens, 0.08 USD, 0.05 hours"
    )


def test_a_wrong_name_is_told_as_by_a_run(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task 'x'"):
        estimate(config(tiny, tmp_path, tasks=["x"]))


def test_it_needs_no_engine_and_leaves_nothing(fieldmark: Fieldmark, tmp_path: Path) -> None:
    done = fieldmark("run", "--dry-run", "--json", "--model", "builtin/scout", "--limit", 3, env=NO_ENGINE)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["episodes"], told["at_most"]["usd"]) == (3, 0.0)
    assert not (tmp_path / "runs").exists()
