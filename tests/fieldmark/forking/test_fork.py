"""`fieldmark fork` in containers: the same before the fork, and otherwise only by what was changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.forking.difference import CLOCK
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")
BOX = {"x1": 10, "y1": 10, "x2": 200, "y2": 150}
OTHER = {"x1": 200, "y1": 100, "x2": 390, "y2": 240}


def by_turn(body: Body) -> Reply:
    """One look, then an answer that says how many pictures the model was shown."""
    if not any(message["role"] == "assistant" for message in body["messages"]):
        return Reply("Closer.", [Call("crop_zoom", BOX, "look")])
    pictures = json.dumps(body["messages"]).count("data:image/")
    return Reply(calls=[Call("answer", {"text": f"{pictures} pictures"})])


def events(folder: Path) -> list[dict[str, Any]]:
    """The one trace of a run, without what is never the same."""
    run = RunDir.open(folder)
    [trace] = run.traces.glob("*.jsonl")
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    return [{key: value for key, value in row.items() if key not in CLOCK} for row in rows]


def test_react_looks_elsewhere(fieldmark: Fieldmark, tmp_path: Path) -> None:
    with ModelServer(by_turn) as server:
        at = ["--model", "scripted", "--base-url", server.url, "--no-probe"]
        assert fieldmark("run", "--tasks", "mini-01", *at, "--out", "a").returncode == 0
        was = events(tmp_path / "a")
        call = next(row["seq"] for row in was if row["kind"] == "tool_call")
        fork = ["fork", "a", "mini-01", "--event", call, "--arguments", json.dumps(OTHER)]
        done = fieldmark(*fork, "--out", "b", "--json")
    assert done.returncode == 0, done.stderr
    now, told = events(tmp_path / "b"), json.loads(done.stdout)
    assert now[: call - 1] == was[: call - 1]  # all before the reply that was changed
    assert now[call]["arguments"] == OTHER
    assert now[call + 1]["pictures"] != was[call + 1]["pictures"]
    assert now[call + 1]["pictures"][0]["of"] == was[call + 1]["pictures"][0]["of"]
    assert told["forks"][0]["parts"]["event"] == call
    assert (told["replayed"], told["recorded"]["verdict"], told["forks"][0]["drift"]) == (1, "incorrect", 0)
    assert len(server.requests) == 3  # two, and the one after the fork
    described = RunDir.open(tmp_path / "b").config()["forked"]
    assert (described["run"], described["task"], described["event"]) == ("a", "mini-01", call)
    assert described["change"] == {"what": "arguments", "arguments": OTHER}
    resumed = fieldmark("run", "--resume", "b")
    assert (resumed.returncode, "b is a fork of a" in resumed.stderr) == (2, True)


def test_nothing_changed_is_the_same_episode(fieldmark: Fieldmark, tmp_path: Path) -> None:
    """`forager` tells its model the numbers of events: they are those of the recording after a fork too."""
    assert fieldmark("run", "--agent", "forager", "--tasks", "mini-34", "--out", "a").returncode == 0
    was = events(tmp_path / "a")
    call = next(row for row in was if row["kind"] == "tool_call")
    same = ["--arguments", json.dumps(call["arguments"])]
    done = fieldmark("fork", "a", "mini-34", "--event", call["seq"], *same, "--out", "b")
    assert done.returncode == 0, done.stderr
    assert events(tmp_path / "b") == was
    assert "beside what was changed, every event is the recorded one" in done.stdout
