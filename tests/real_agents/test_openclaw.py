"""OpenClaw, really installed, in containers, against a scripted model: how it answers, and how it ends.

One run holds all cases, each a task whose question names it; it takes about six minutes on two cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.model_server import Call, Reply
from tests.real_agents import playing
from tests.real_agents.conftest import AgentImage
from tests.real_agents.playing import Played

pytestmark = pytest.mark.timeout(1800)
LIMIT = 150.0
CALLS = 8
ANSWER = Reply('{"answer": "red", "confidence": 0.9, "rationale": "seen"}')
SHELL = 'fieldmark tool crop_zoom --json \'{"x1": 0, "y1": 0, "x2": 50, "y2": 50}\''
CASES: dict[str, list[Reply]] = {
    "answer": [ANSWER],
    "tools": [
        Reply(calls=[Call("fieldmark__crop_zoom", {"x1": 0, "y1": 0, "x2": 50, "y2": 50})]),
        Reply(calls=[Call("exec", {"command": SHELL})]),
        Reply(calls=[Call("read", {"path": "skills/zoom-and-read/SKILL.md"})]),
        ANSWER,
    ],
    "look": [Reply(calls=[Call("view_image", {"path": "picture.png"})]), ANSWER],
    "unknown": [Reply(calls=[Call("telepathy", {"of": "the picture"})]), ANSWER],
    "malformed": [Reply(calls=[Call("exec", '{"command": "ls -la, ')]), ANSWER],
    "empty": [Reply("")],
    "xml": [Reply('<tool_call>{"name": "exec", "arguments": {"command": "ls"}}</tool_call>')],
    "context": [Reply(status=400, error={"message": "too long", "code": "context_length_exceeded"})],
    "loop": [Reply(calls=[Call("exec", {"command": "true"})])],
    "down": [Reply(status=500)],
    "hang": [Reply(hang=True)],
}


Play = Callable[..., Played]


@pytest.fixture(scope="module")
def play(engine: Any, agent_image: AgentImage, tmp_path_factory: pytest.TempPathFactory) -> Play:
    """`play("--blind")`: a run over the cases; nothing of it is left."""
    agent_image("openclaw")
    limits = ["--time-limit", str(LIMIT), "--max-calls", str(CALLS)]
    return lambda *flags: playing.play(
        "openclaw", CASES, engine, tmp_path_factory.mktemp("openclaw"), *limits, *flags
    )


@pytest.fixture(scope="module")
def played(play: Play) -> Played:
    """All cases, by a model that sees."""
    return play()


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("answer", "answered"),
        ("tools", "answered"),
        ("look", "answered"),
        ("unknown", "answered"),
        ("malformed", "answered"),
        ("empty", "empty"),
        ("xml", "empty"),
        ("context", "agent_error"),
        ("loop", "budget"),
        ("down", "sandbox_error"),
        ("hang", "timeout"),
    ],
)
def test_each_case_ends_as_it_should_and_inside_the_limit(played: Played, case: str, status: str) -> None:
    record = played.records[case]
    assert record.status == status
    assert record.charged_seconds < LIMIT + 5
    assert (record.answer == "red") == (status == "answered")


def test_the_picture_reaches_the_model_as_it_is(played: Played) -> None:
    [start], [request] = played.events("answer", "episode_start"), played.events("answer", "model_request")
    assert [picture.blob for picture in request.pictures] == [start.view.blob]


def test_our_tools_come_over_mcp_and_in_its_shell_and_skills_as_files(played: Played) -> None:
    calls = played.events("tools", "tool_call")
    assert [(call.name, call.door) for call in calls if call.by == "sandbox"] == [
        ("crop_zoom", "mcp"), ("crop_zoom", "command"),
    ]  # fmt: skip
    [skill] = [message for message in played.asked["tools"][-1]["messages"] if message["role"] == "tool"][-1:]
    assert "zoom-and-read" in str(skill["content"])


def test_a_turn_with_malformed_arguments_is_asked_again(played: Played) -> None:
    """It drops the turn in silence: only the gateway saw the call."""
    first, second = played.asked["malformed"]
    assert [message["role"] for message in first["messages"]] == [
        message["role"] for message in second["messages"]
    ]


def test_a_tool_that_is_not_there_is_told_to_the_model(played: Played) -> None:
    assert "telepathy not found" in str(played.asked["unknown"][-1]["messages"])


def test_endless_repetition_ends_with_the_budget(played: Played) -> None:
    assert len(played.asked["loop"]) == CALLS


def test_a_controller_without_sight_asks_its_eyes(play: Play) -> None:
    played = play("--blind", "--eyes", "seer", "--tasks", "look")
    requests = played.events("look", "model_request")
    assert [(request.role, request.model, len(request.pictures)) for request in requests] == [
        ("agent", "scripted", 0), ("eyes", "seer", 1), ("agent", "scripted", 0),
    ]  # fmt: skip
    assert "All of it is red." in str(played.asked["look"][-1]["messages"])
    assert played.records["look"].status == "answered"
