"""Every recipe of ours, really installed: it looks with a tool of ours, reads the result and answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.agents.registry import recipe_names
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply
from tests.real_agents.conftest import AgentImage

pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("nothing_left")]
ANSWER = {"answer": "red", "confidence": 0.9, "rationale": "seen"}
BOX = {"x1": 0, "y1": 0, "x2": 50, "y2": 50}
SHELLS = ("run_shell_command", "exec_command", "bash")
LOOK = f"fieldmark tool crop_zoom --json '{json.dumps(BOX)}'"
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}  # Codex insists on the sum
SUBMIT = f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo '{json.dumps(ANSWER)}'"


def script(body: Body) -> Reply:
    """One look, by our tool where it is offered, else in the shell; then the answer, as it is wanted."""
    names = [tool.get("name") or tool.get("function", {}).get("name") or "" for tool in body.get("tools", [])]
    ours = next((name for name in names if name.endswith("crop_zoom")), None)
    shell = next((name for name in SHELLS if name in names), "?")
    if "Shown: original pixels" not in results(body):
        return call(ours, BOX) if ours else call(shell, {"command": LOOK, "cmd": LOOK, "description": "look"})
    if "final_answer" in names:
        return call("final_answer", {"answer": json.dumps(ANSWER)})
    if "COMPLETE_TASK_AND_SUBMIT" in json.dumps(body):
        return call("bash", {"command": SUBMIT})
    return Reply(json.dumps(ANSWER), usage=USAGE)


def call(name: str, arguments: dict[str, Any]) -> Reply:
    return Reply(calls=[Call(name, arguments, f"call_{name}")], usage=USAGE)


def results(body: Body) -> str:
    """What came after the question: what tools gave, in whatever form."""
    rows = body.get("messages") or body.get("input") or []
    return json.dumps([row for row in rows if row.get("role") not in ("system", "developer")][1:])


@pytest.mark.parametrize("name", recipe_names())
def test_it_looks_and_answers(
    name: str, agent_image: AgentImage, fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    agent_image(name)
    with ModelServer(script) as server:
        done = fieldmark(
            "run", "--benchmark", tiny, "--limit", 1, "--agent", name, "--model", "scripted",
            "--base-url", server.url, "--out", "out", timeout=600,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    trace: list[Any] = list(run.trace(record))

    assert (record.status, record.answer, record.confidence) == ("answered", "red", 0.9)
    assert "tool_call" in {event.kind for event in trace if getattr(event, "name", "") == "crop_zoom"}
    assert [event.ok for event in trace if event.kind == "tool_result" and event.by == "sandbox"] == [True]
    assert next(event for event in trace if event.kind == "model_request").pictures
