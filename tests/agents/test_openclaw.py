"""OpenClaw's adapter: what it is started with, and what its output means."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldmark.agents.external import process
from fieldmark.agents.external.adapter import Output, Setting
from fieldmark.agents.external.agent import ExternalAgent
from fieldmark.agents.external.openclaw import LEAN, OpenClaw
from fieldmark.client import GatewayClient
from fieldmark.task import Limits, Prompt
from fieldmark.trace import Picture
from tests.agents.conftest import OpenGateway
from tests.agents.scripted_gateway import make_prompt, says

PICTURE = Picture(blob="0" * 64, media_type="image/png", width=640, height=480)
lean, stock = OpenClaw("openclaw", LEAN), OpenClaw("openclaw_stock")


def setting(**changes: Any) -> Setting:
    known: dict[str, Any] = {"model": "thinker", "tools": ["ocr"], "limits": Limits(seconds=90)}
    prompt = Prompt(token="0", question="What is it?", image=PICTURE, view=PICTURE, **{**known, **changes})
    work, home = Path("/workspace"), Path("/home/agent")
    return Setting(prompt, "the task", work / "picture.png", work, home, "http://127.0.0.1:8118/v1", {})


def config(agent: OpenClaw = lean, **changes: Any) -> dict[str, Any]:
    [text] = agent.prepare(setting(**changes)).files.values()
    found: dict[str, Any] = json.loads(text)
    return found


def inputs(made: dict[str, Any]) -> dict[str, list[str]]:
    """Model → what it takes."""
    return {model["id"]: model["input"] for model in made["models"]["providers"]["gateway"]["models"]}


def test_it_is_asked_by_stdin_and_works_in_the_workspace() -> None:
    launch = lean.prepare(setting())

    assert launch.argv[:3] == ["openclaw", "agent", "exec"]
    assert {"--cwd", "/workspace", "--json"} <= set(launch.argv)
    assert launch.stdin == "the task"
    assert launch.skills == Path("/workspace/skills")


def test_lean_and_stock_differ_in_their_tools_alone() -> None:
    thin, full = config(lean), config(stock)

    assert thin.pop("tools") == {"allow": [*LEAN], "toolSearch": False}
    assert full.pop("tools") == {}
    assert thin == full


def test_a_model_that_sees_looks_for_itself() -> None:
    made = config()

    assert inputs(made) == {"thinker": ["text", "image"]}
    assert made["agents"]["defaults"]["imageModel"] == {"primary": "gateway/thinker"}


def test_a_controller_without_sight_asks_its_eyes() -> None:
    made = config(sees=False, eyes="seer")

    assert inputs(made) == {"thinker": ["text"], "seer": ["text", "image"]}
    assert made["agents"]["defaults"]["model"] == {"primary": "gateway/thinker"}
    assert made["agents"]["defaults"]["imageModel"] == {"primary": "gateway/seer"}


def test_without_sight_and_eyes_there_is_nothing_to_look_with() -> None:
    made = config(sees=False)

    assert inputs(made) == {"thinker": ["text"]}
    assert "imageModel" not in made["agents"]["defaults"]


def test_our_tools_are_offered_where_the_run_has_any() -> None:
    assert config()["mcp"]["servers"]["fieldmark"]["command"] == "fieldmark"
    assert config(tools=[])["mcp"]["servers"] == {}


@pytest.fixture
def collect() -> Callable[..., Any]:
    def read(envelope: object, code: int = 0) -> Any:
        text = envelope if isinstance(envelope, str) else json.dumps(envelope)
        return lean.collect(Output(text, "", code), setting())

    return read


def test_its_last_words_and_its_tool_calls_are_read(collect: Callable[..., Any]) -> None:
    said = collect({"ok": True, "status": "ok", "final": "A husky.", "toolSummary": {"calls": 3}})

    assert (said.text, said.error, said.tool_calls) == ("A husky.", None, 3)


def test_an_error_is_read_with_its_kind(collect: Callable[..., Any]) -> None:
    error = {"message": "prompt too large", "kind": "context_overflow"}

    said = collect({"ok": False, "status": "error", "final": "", "error": error}, 1)

    assert (said.text, said.error) == ("", "context_overflow: prompt too large")


def test_a_model_that_said_nothing_is_no_crash(collect: Callable[..., Any]) -> None:
    error = {"message": "Agent couldn't generate a response.", "kind": "fallback_exhausted"}

    assert collect({"ok": False, "status": "error", "final": "", "error": error}, 1).silent


@pytest.mark.parametrize("printed", ["", "{", "null", "[]", '"final"', "no JSON at all"])
def test_output_that_is_no_envelope_says_nothing(collect: Callable[..., Any], printed: str) -> None:
    assert collect(printed, 143).text == ""
    assert not lean.is_final(printed)


def test_it_has_spoken_when_its_envelope_is_whole() -> None:
    assert not lean.is_final('{"ok": true, "final": "A hus')
    assert lean.is_final('{"ok": true, "final": "A husky."}\n')


def test_one_that_has_spoken_and_does_not_end_is_ended_and_its_answer_kept(
    open_gateway: OpenGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 7-16, with a stand-in for the program: its envelope is out, and it stays."""
    program = tmp_path / "bin" / "openclaw"
    program.parent.mkdir()
    final = json.dumps({"ok": True, "final": '{"answer": "a husky", "confidence": 0.5}'})
    program.write_text(f"#!/bin/sh\ncat >asked\necho '{final}'\nexec sleep 300\n")
    program.chmod(0o755)
    (tmp_path / "picture.png").touch()
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FIELDMARK_WORKSPACE", str(tmp_path))
    monkeypatch.setattr(process, "GRACE", 0.3)
    gateway = open_gateway(says("unused"))

    answer = ExternalAgent(lean).solve(make_prompt(), GatewayClient(gateway.path), [])

    assert (answer.text, answer.confidence) == ("a husky", 0.5)
    assert "picture.png" in (tmp_path / "asked").read_text()
    [log] = gateway.of_kind("log")
    assert log["message"] == "openclaw was killed: it had answered and did not end"
