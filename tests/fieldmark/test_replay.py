"""A run that was recorded with a scripted model replays without its server, to the same traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")
TASKS = ["--tasks", "mini-01,mini-34"]
TURNS = [
    Reply("Closer.", [Call("crop_zoom", {"x1": 10, "y1": 10, "x2": 200, "y2": 150})], reasoning="Small."),
    Reply(calls=[Call("aircraft_registry", {"registration": "N8710M"})]),
    Reply(calls=[Call("no_such_tool")]),
    Reply(calls=[Call("crop_zoom", '{"x1": 1,')]),
    Reply(calls=[Call("read_skill", {"name": "food"})]),
    Reply(calls=[Call("answer", {"text": "a scripted answer", "confidence": 0.5})]),
]
TIMES = {"t", "seconds", "first_token_seconds", "waited", "charged_seconds"}
CLOSED_BOOK = ["--agent", "closed_book"]


def by_turn(body: Body) -> Reply:
    """The reply of the turn that this request begins, whichever episode it is of."""
    turn: int = sum(message["role"] == "assistant" for message in body["messages"])
    return TURNS[turn]


def traces(folder: Path, *without: str) -> dict[str, list[Any]]:
    """Task → its events in order, without what the clock says, the run's name, and some other fields."""
    run = RunDir.open(folder)
    left_out = {*TIMES, "run", *without}
    return {
        record.id: [
            {key: value for key, value in json.loads(line).items() if key not in left_out}
            for line in (run.traces / record.trace).read_text().splitlines()
        ]
        for record in run.episodes()
    }


def test_react_replays_offline_to_the_same_traces(fieldmark: Fieldmark, tmp_path: Path) -> None:
    with ModelServer(by_turn) as server:
        done = fieldmark("run", *TASKS, "--model", "scripted", "--base-url", server.url, "--out", "a")
    assert done.returncode == 0, done.stderr
    again = fieldmark("run", *TASKS, "--model", "replay:a", "--strict", "--out", "b")
    assert again.returncode == 0, again.stderr
    assert len(server.requests) == 2 * len(TURNS)
    recorded = traces(tmp_path / "a")
    assert {len(trace) for trace in recorded.values()} == {
        len(TURNS) * 4 + 4
    }  # and one skill_read, one answer
    assert traces(tmp_path / "b") == recorded
    model = RunDir.open(tmp_path / "b").config()["model"]
    assert (model["name"], model["sees"], model["replays"]["run"]) == ("scripted", True, "a")
    assert len(model["replays"]["episodes_sha256"]) == 64
    assert str(tmp_path) not in (tmp_path / "b" / "run.json").read_text()
    assert "scripted (replay)" in again.stdout
    assert "no vision" in again.stdout


def test_a_cache_and_drift(fieldmark: Fieldmark, tmp_path: Path) -> None:
    run = ["run", *CLOSED_BOOK, *TASKS]
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        at = ["--model", "scripted", "--base-url", server.url, "--cache", "kept"]
        for name in ("a", "b"):
            done = fieldmark(*run, *at, "--out", name)
            assert done.returncode == 0, done.stderr
    assert len(server.requests) == 2
    assert "2 of 2 model calls were answered from the cache" in done.stdout
    assert traces(tmp_path / "b", "cached", "tries", "counts") == traces(
        tmp_path / "a", "cached", "tries", "counts"
    )

    # a smaller picture is another request: told before, stopped at when strict, else counted
    strict = fieldmark(
        *run, "--model", "replay:a", "--image-side", 64, "--strict", "--parallel", 1, "--out", "c"
    )
    assert strict.returncode == 1
    assert "replay: not as in a: image_side;" in strict.stderr
    assert (
        "task 'mini-01', agent request 1 (step) differs from the recorded m1 in messages[1]" in strict.stderr
    )
    lenient = fieldmark("run", "--resume", "c", "--no-strict")
    assert lenient.returncode == 0, lenient.stderr
    assert [record.counts["drift"] for record in RunDir.open(tmp_path / "c").episodes()] == [1, 1]
    assert "drift in 2 of 2 episodes: 2 requests" in " ".join(lenient.stdout.split())
