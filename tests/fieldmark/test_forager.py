"""forager in real containers: every stage of one task, with a real search and a real comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")

BISCUITS = ("Pan Ducale Amaretti", "Pan Ducale Bastoncini")


def hypotheses(*names: str, cites: str) -> Reply:
    rows = [{"name": name, "confidence": 0.6, "evidence": [cites]} for name in names]
    return Reply(json.dumps({"hypotheses": rows, "nearest_neighbour": BISCUITS[1]}))


def verdict(word: str) -> Reply:
    return Reply(json.dumps({"verdict": word, "cites": ["E2"], "why": "the lettering", "confidence": 0.9}))


def walks_all_stages(body: Body) -> Reply:
    """Suspect the wrong biscuits, search, have them refuted by the comparison, and verify the right ones."""
    last = body["messages"][-1]
    asked = last["content"] if isinstance(last["content"], str) else json.dumps(last["content"])
    if "Stage: observe" in asked:
        return hypotheses(*BISCUITS, cites="")
    if "Stage: verify" in asked:
        return verdict("exact" if f"Candidate: {BISCUITS[1]}" in asked else "refuted")
    if "contradicted" in asked:
        return hypotheses(BISCUITS[1], cites="E2")
    if last["role"] == "tool":
        return hypotheses(*BISCUITS, cites="E1")
    return Reply(calls=[Call("reverse_image_search", {"limit": 3}, "s1")])


def test_all_stages_of_one_task(fieldmark: Fieldmark, tmp_path: Path) -> None:
    with ModelServer(walks_all_stages) as server:
        done = fieldmark(
            "run", "--agent", "forager", "--tasks", "mini-02", "--out", "out", "--model", "scripted",
            "--base-url", server.url, "--key-env", "TEST_KEY", env={"TEST_KEY": "sk-TESTKEY-0123456789"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    [record], [judged] = run.episodes(), run.verdicts().values()
    assert (record.status, record.answer, judged.label) == ("answered", BISCUITS[1], "correct")
    trace: list[Any] = list(run.trace(record))
    logs = [event.data for event in trace if event.kind == "log" and hasattr(event, "data")]
    assert [data["stage"] for data in logs] == [
        "observe", "acquire", "acquire", "compare", "verify", "acquire", "verify", "answer",
    ]  # fmt: skip
    assert [row["name"] for row in logs[-1]["ruled_out"]] == [BISCUITS[0]]
    [answer] = [event for event in trace if event.kind == "answer"]
    [compared] = [trace[seq] for seq in answer.evidence]
    assert (compared.kind, compared.data["same_object"]) == ("tool_result", True)
    sheet = compared.pictures[0].blob
    shown = [{picture.blob for picture in event.pictures} for event in trace if event.kind == "model_request"]
    assert [sheet in blobs for blobs in shown] == [False, False, False, True, True, True]
    calls = {event.name: event.model_call for event in trace if event.kind == "tool_call"}
    assert calls == {"reverse_image_search": "s1", "compare_images": None}
