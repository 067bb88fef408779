"""OpenCode, really installed, in containers: the faults that tests/fieldmark/test_opencode.py leaves out, and
a recorded run that is replayed.

It takes about five minutes on two cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.evals.metrics.acts import episode_acts
from tests.model_server import Call, Reply
from tests.real_agents import playing
from tests.real_agents.conftest import AgentImage
from tests.real_agents.playing import Played

pytestmark = pytest.mark.timeout(1800)
LIMIT = 120.0
CALLS = 8
ANSWER = Reply('{"answer": "red", "confidence": 0.9, "rationale": "seen"}')
SHELL = 'fieldmark tool crop_zoom --json \'{"x1": 0, "y1": 0, "x2": 50, "y2": 50}\''
CASES: dict[str, list[Reply]] = {
    "tools": [
        Reply(calls=[Call("fieldmark_crop_zoom", {"x1": 0, "y1": 0, "x2": 50, "y2": 50})]),
        Reply(calls=[Call("bash", {"command": SHELL, "description": "crop"})]),
        Reply(calls=[Call("skill", {"name": "zoom-and-read"})]),
        ANSWER,
    ],
    "unknown": [Reply(calls=[Call("telepathy", {"of": "the picture"})]), ANSWER],
    "malformed": [Reply(calls=[Call("bash", '{"command": "ls -la, ')]), ANSWER],
    "empty": [Reply("")],
    "xml": [Reply('<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>')],
    "loop": [Reply(calls=[Call("bash", {"command": "true", "description": "nothing"})])],
    "orphan": [
        Reply(
            calls=[Call("bash", {"command": "sleep 600 >/dev/null 2>&1 & echo on", "description": "stay"})]
        ),
        ANSWER,
    ],
    "refused": [Reply(status=400, error={"message": "no", "type": "invalid_request_error"})],
    "limited": [Reply(status=429, headers={"Retry-After": "1"}), ANSWER],
}
REPLAYED = ("tools", "unknown", "malformed")


@pytest.fixture(scope="module")
def played(engine: Any, agent_image: AgentImage, tmp_path_factory: pytest.TempPathFactory) -> Played:
    agent_image("opencode")
    limits = ["--time-limit", str(LIMIT), "--max-calls", str(CALLS)]
    return playing.play("opencode", CASES, engine, tmp_path_factory.mktemp("opencode"), *limits)


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("tools", "answered"),
        ("unknown", "answered"),
        ("malformed", "answered"),
        ("empty", "empty"),
        ("xml", "empty"),
        ("loop", "budget"),
        ("orphan", "answered"),
        ("refused", "agent_error"),
        ("limited", "answered"),
    ],
)
def test_each_case_ends_as_it_should_and_inside_the_limit(played: Played, case: str, status: str) -> None:
    record = played.records[case]
    assert record.status == status
    assert record.charged_seconds < LIMIT + 5
    assert (record.answer == "red") == (status == "answered")


def test_a_call_in_the_shell_is_one_act_of_the_tool_that_it_runs(played: Played) -> None:
    found = acts(played, "tools")
    assert [[inner.action for inner in act.innermost] for act in found.acts] == [["crop_zoom"], ["crop_zoom"]]
    assert found.sides == {"skill": 1}


def test_arguments_that_are_no_json_are_a_failed_act(played: Played) -> None:
    """OpenCode writes the call anew as one of its own, that ends well."""
    assert [(act.ok, act.error_kind) for act in acts(played, "malformed").acts] == [(False, "invalid_args")]


def test_a_recorded_run_replays_offline_to_the_same_acts_and_answers(played: Played, tmp_path: Path) -> None:
    tasks = playing.benchmark(tmp_path, CASES)
    again = playing.run_over(
        "opencode", tasks, tmp_path / "again", "--model", f"replay:{played.folder.path}",
        "--tasks", ",".join(REPLAYED), "--time-limit", str(LIMIT), "--max-calls", str(CALLS),
    )  # fmt: skip
    replayed = Played(again, {record.id: record for record in again.episodes()}, {})

    for case in REPLAYED:
        assert acts(replayed, case) == acts(played, case)
        assert replayed.records[case].answer == played.records[case].answer


def acts(played: Played, case: str) -> Any:
    return episode_acts(played.folder.trace(played.records[case]))
