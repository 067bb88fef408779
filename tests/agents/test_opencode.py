"""What OpenCode is given, and what is read from what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.agents.external.adapter import Output, Setting
from fieldmark.agents.opencode import OpenCode
from fieldmark.task import Prompt
from fieldmark.trace import Picture

VIEW = Picture(blob="a" * 64, media_type="image/png", width=400, height=300)


@pytest.fixture
def setting(tmp_path: Path) -> Any:
    def make(**fields: Any) -> Setting:
        prompt = Prompt(token="t", question="Which?", image=VIEW, view=VIEW, model="org/model", **fields)
        return Setting(
            prompt, "the text", tmp_path / "picture.png", tmp_path, tmp_path / "home",
            "http://127.0.0.1:8118/v1", {},
        )  # fmt: skip

    return make


def config_of(setting: Setting) -> Any:
    (text,) = OpenCode().prepare(setting).files.values()
    return json.loads(text)


def printed(*events: dict[str, Any]) -> Output:
    return Output("".join(json.dumps(event) + "\n" for event in events), "", 0)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "part": {"text": words}}


START = {"type": "step_start", "part": {}}
TOOL = {"type": "tool_use", "part": {"tool": "bash", "state": {"status": "completed"}}}


def ended(reason: str) -> dict[str, Any]:
    return {"type": "step_finish", "part": {"reason": reason}}


def test_the_picture_goes_to_a_model_that_sees(setting: Any) -> None:
    launch = OpenCode().prepare(setting())

    assert list(launch.argv[-2:]) == ["-f", str(setting().picture)]
    assert launch.stdin == "the text"  # as an argument it would stand in quotation marks


def test_a_model_without_sight_is_not_sent_one(setting: Any) -> None:
    launch = OpenCode().prepare(setting(sees=False))

    assert "-f" not in launch.argv
    model = config_of(setting(sees=False))["provider"]["gateway"]["models"]["org/model"]
    assert model["modalities"]["input"] == ["text"]


def test_the_model_is_asked_through_the_gateway_alone(setting: Any) -> None:
    config = config_of(setting(context=32_768, output=4_096))

    assert config["enabled_providers"] == ["gateway"]
    assert config["provider"]["gateway"]["options"]["baseURL"] == "http://127.0.0.1:8118/v1"
    assert config["model"] == config["small_model"] == "gateway/org/model"
    limit = config["provider"]["gateway"]["models"]["org/model"]["limit"]
    assert limit == {"context": 32_768, "output": 4_096}


def test_nothing_asks_for_a_permission(setting: Any) -> None:
    """Case 7-14: a question without a person hangs for ever."""
    assert config_of(setting())["permission"] == {"*": "allow", "external_directory": "allow"}


def test_our_tools_come_over_mcp_where_there_are_any(setting: Any) -> None:
    assert config_of(setting(tools=["ocr"]))["mcp"]["fieldmark"]["command"] == ["fieldmark", "mcp"]
    assert config_of(setting())["mcp"] == {}


def test_the_answer_is_the_text_of_the_last_step(setting: Any) -> None:
    output = printed(
        START, text("Let me look."), TOOL, ended("tool-calls"), START, text("Siberian "), text("husky")
    )

    said = OpenCode().collect(output, setting())

    assert (said.text, said.error, said.tool_calls) == ("Siberian husky", None, 1)


def test_an_error_event_is_told_in_one_line(setting: Any) -> None:
    error = {
        "type": "error",
        "error": {"name": "APIError", "data": {"message": "Bad\nrequest", "isRetryable": False}},
    }

    assert OpenCode().collect(printed(START, error), setting()).error == "Bad request"


def test_lines_that_are_no_events_are_passed_over(setting: Any) -> None:
    output = Output(
        'Performing a migration\n[1]\n{"type": "text", "part": null}\n' + json.dumps(text("dog")), "", 0
    )

    assert OpenCode().collect(output, setting()).text == "dog"


@pytest.mark.parametrize(
    ("events", "final"),
    [
        ([START, text("x")], False),
        ([START, text("x"), ended("tool-calls")], False),
        ([START, text("x"), ended("tool-calls"), START, text("y"), ended("stop")], True),
        ([], False),
    ],
)
def test_the_last_word_is_a_step_that_asks_for_no_tools(events: list[Any], final: bool) -> None:
    assert OpenCode().is_final(printed(*events).stdout) is final
