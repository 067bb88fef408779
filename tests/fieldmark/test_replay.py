"""A run recorded with a scripted model replays without its server: the same traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")
TASKS = ["--benchmark", "fieldmark-mini", "--tasks", "mini-01,mini-34"]
TURNS = [
    Reply(
        "Let me look.", [Call("crop_zoom", {"x1": 10, "y1": 10, "x2": 200, "y2": 150})], reasoning="Small."
    ),
    Reply(calls=[Call("aircraft_registry", {"registration": "N8710M"}), Call("no_such_tool")]),
    Reply(calls=[Call("read_skill", {"name": "food"}), Call("crop_zoom", '{"x1": 1,')]),
    Reply(calls=[Call("answer", {"text": "a scripted answer", "confidence": 0.5})]),
]
TIMES = ("t", "seconds", "first_token_seconds", "waited", "charged_seconds", "run")


def by_turn(body: Body) -> Reply:
    """The reply of the turn that this request begins, whichever episode it is of."""
    return TURNS[sum(message["role"] == "assistant" for message in body["messages"])]


def without_times(row: Any) -> Any:
    """An event without what the clock and the run's name say."""
    return {key: value for key, value in row.items() if key not in TIMES}


def traces(folder: Path) -> dict[str, list[Any]]:
    """Task → its events in order; those of calls that ran at once in the order of their names."""
    run = RunDir.open(folder)
    found = {}
    for record in run.episodes():
        rows = [
            without_times(json.loads(line)) for line in (run.traces / record.trace).read_text().splitlines()
        ]
        turn, ordered = 0, []
        for row in rows:
            turn += row["kind"] == "model_request"
            ordered.append((turn, row["kind"].startswith(("tool", "skill")), str(row.get("call")), row))
        ordered.sort(key=lambda item: (item[0], item[1] and 1, item[2] if item[1] else ""))
        found[record.id] = [{**row, "seq": None} for *_, row in ordered]
    return found


def test_a_recorded_run_replays_offline_to_the_same_traces(fieldmark: Fieldmark, tmp_path: Path) -> None:
    with ModelServer(by_turn) as server:
        at = ["--model", "scripted", "--base-url", server.url, "--cache", "kept"]
        first = fieldmark("run", *TASKS, *at, "--out", "a")
        asked = len(server.requests)
        again = fieldmark("run", *TASKS, *at, "--out", "b")
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert asked == len(server.requests) == 8
    assert "8 of 8 model calls were answered from the cache" in again.stdout
    replay = ["run", "--model", "replay:a"]
    done = fieldmark(*replay, *TASKS, "--strict", "--out", "c")
    assert done.returncode == 0, done.stderr
    recorded, replayed = traces(tmp_path / "a"), traces(tmp_path / "c")
    assert {len(trace) for trace in recorded.values()} == {26}
    assert replayed == recorded
    assert traces(tmp_path / "b") != recorded  # what the cache gave is marked
    model = RunDir.open(tmp_path / "c").config()["model"]
    assert (model["name"], model["sees"], model["replays"]["run"]) == ("scripted", True, "a")
    assert "scripted (replay)" in done.stdout
    assert "no vision" in done.stdout

    # another agent asks otherwise
    strict = fieldmark(
        *replay, *TASKS[:2], "--tasks", "mini-01", "--agent", "closed_book", "--strict", "--out", "d"
    )
    assert strict.returncode == 1
    assert "replay: not as in a: agent, tools, skills;" in strict.stderr
    told = "replay of a, task 'mini-01', agent request 1 (step) differs from the recorded m1 in messages"
    assert told in strict.stderr.replace("\n", " ")
    lenient = fieldmark("run", "--resume", "d", "--no-strict")
    assert lenient.returncode == 0, lenient.stderr
    [record] = RunDir.open(tmp_path / "d").episodes()
    assert (record.status, record.counts["drift"]) == ("answered", 1)
    assert "drift: 1 requests in 1 of 1 episodes" in lenient.stdout

    # and what was not recorded is not made up
    other = fieldmark(*replay, "--tasks", "mini-02", "--out", "e")
    assert other.returncode == 2
    assert "a has no episode of task 'mini-02': name recorded tasks with --tasks" in other.stderr
