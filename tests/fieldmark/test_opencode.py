"""OpenCode, really installed, in real containers, driven by a scripted model: each episode a way to go."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from PIL import Image

from fieldmark.evals.metrics.acts import episode_acts
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.sandbox import image
from fieldmark.sandbox.build_context import Variant
from fieldmark.sandbox.container import LABEL
from tests.conftest import FIELDMARK, spawn
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.timeout(900)  # the first call may have to fetch OpenCode
ANSWER = Reply('{"answer": "red", "confidence": 0.9}')
WAYS = ("uses a tool", "calls what is not there", "is refused for ever", "waits for ever")
TIME_LIMIT = 45


def script(body: Body) -> Reply:
    """What the question in the conversation says that the model does."""
    messages = json.dumps(body["messages"])
    way = next(way for way in WAYS if f"model that {way}" in messages)
    results = sum(message["role"] == "tool" for message in body["messages"])
    if way == "waits for ever":
        return Reply(hang=True)
    if way == "is refused for ever":
        too_long = {"message": "maximum context length is 32768 tokens", "code": "context_length_exceeded"}
        return Reply(status=400, error={**too_long, "type": "invalid_request_error"})
    if results == 0:
        calls = {
            "uses a tool": Call("fieldmark_crop_zoom", {"x1": 0, "y1": 0, "x2": 200, "y2": 150}),
            "calls what is not there": Call("reverse_image_search_v2", {"image_path": "/x.jpg"}),
        }
        return Reply("Let me look.", calls=[calls[way]])
    return ANSWER


@dataclass(frozen=True)
class Ran:
    """A run that is over; `asked` are the requests that the model's server got."""

    folder: RunDir
    asked: list[Body]

    def episode(self, way: str) -> EpisodeRecord:
        return next(record for record in self.folder.episodes() if record.id == way.replace(" ", "-"))

    def acts(self, way: str) -> Any:
        return episode_acts(self.folder.trace(self.episode(way))).acts


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, engine: Any) -> Iterator[Ran]:
    image.build(engine, print, Variant(kit=kit()))
    folder = tmp_path_factory.mktemp("opencode")
    Image.new("RGB", (400, 300), "red").save(folder / "red.png")
    rows = [
        {
            "id": way.replace(" ", "-"),
            "question": f"What colour is this, asks the model that {way}?",
            "image": "red.png",
            "gold": {"answer": "red", "source": "drawn"},
        }
        for way in WAYS
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ModelServer(script) as server:
        command = [FIELDMARK, "run", "--agent", "opencode", "--benchmark", str(folder / "tasks.jsonl")]
        command += ["--model", "scripted", "--base-url", server.url, "--time-limit", str(TIME_LIMIT)]
        command += ["--parallel", "2", "--out", str(folder / "run")]
        process = spawn(command)
        _, errors = process.communicate(timeout=280)
        assert process.returncode == 0, errors
        yield Ran(RunDir.open(folder / "run"), server.requests)


def kit() -> Any:
    from fieldmark.agents.registry import get_agent

    return get_agent("opencode").needs.kit


def test_it_answers_with_our_tools(ran: Ran) -> None:
    record = ran.episode("uses a tool")

    assert (record.status, record.answer, record.confidence) == ("answered", "red", 0.9)
    assert [(act.ok, [deep.action for deep in act.innermost]) for act in ran.acts("uses a tool")] == [
        (True, ["crop_zoom"])
    ]


def test_the_model_gets_the_very_bytes_of_the_view(ran: Ran) -> None:
    first = next(body for body in ran.asked if "model that uses a tool" in json.dumps(body["messages"]))
    urls = [part["image_url"]["url"] for part in parts(first) if part["type"] == "image_url"]

    view = next(row["view"]["blob"] for row in ran.folder.tasks() if row["id"] == "uses-a-tool")
    assert [hashlib.sha256(base64.b64decode(url.partition(",")[2])).hexdigest() for url in urls] == [view]


def test_a_tool_that_is_not_in_its_list_was_not_found(ran: Ran) -> None:
    """OpenCode writes such a call anew as one of its own, which is completed well."""
    record = ran.episode("calls what is not there")

    assert (record.status, record.answer) == ("answered", "red")
    assert [(act.name, act.error_kind) for act in ran.acts("calls what is not there")] == [
        ("reverse_image_search_v2", "not_found")
    ]


def test_a_conversation_that_is_too_long_ends_it(ran: Ran) -> None:
    """Unless told not to, it summarises and asks again, 190 times in 30 s."""
    record = ran.episode("is refused for ever")

    assert (record.status, record.counts["model_calls"]) == ("agent_error", 1)
    assert record.error
    assert record.error.message == "maximum context length is 32768 tokens"


def test_a_model_that_never_answers_ends_at_the_limit(ran: Ran) -> None:
    record = ran.episode("waits for ever")

    assert record.status == "timeout"
    assert TIME_LIMIT <= record.seconds < TIME_LIMIT + 5


def test_nothing_is_left_running(ran: Ran, engine: Any) -> None:
    assert not engine.api.containers(all=True, filters={"label": f"{LABEL}={ran.folder.path.name}"})


def parts(body: Body) -> Iterator[dict[str, Any]]:
    for message in body["messages"]:
        if isinstance(message["content"], list):
            yield from message["content"]
