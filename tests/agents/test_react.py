"""The react loop against scripted models, by the worker's own `serve` and with the real tools."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from fieldmark.agents.registry import get_agent
from fieldmark.agents.worker import serve
from fieldmark.client import GatewayClient
from fieldmark.sandbox.gateway.scout.policy import respond
from fieldmark.task import Limits
from fieldmark.tools.base import Args, Tool, ToolResult
from tests.agents.conftest import OpenGateway, StartWorker
from tests.agents.scripted_gateway import CROP, Json, Reply, ScriptedGateway, call, calls, make_prompt, says

ANSWER = calls(call("answer", {"text": "Saab 340", "confidence": 0.8, "rationale": "two engines"}, "end"))


def tool_texts(request: Json) -> list[tuple[str, str]]:
    return [(row["tool_call_id"], row["content"]) for row in request["messages"] if row["role"] == "tool"]


def images(request: Json) -> list[str]:
    content = [row["content"] for row in request["messages"] if isinstance(row["content"], list)]
    return [part["image_url"]["url"] for parts in content for part in parts if part["type"] == "image_url"]


def texts(request: Json) -> str:
    return json.dumps(
        [
            part
            for row in request["messages"]
            if isinstance(row["content"], list)
            for part in row["content"]
            if part["type"] == "text"
        ]
    )


@pytest.fixture
def play(open_gateway: OpenGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`play(*replies, **prompt)` serves a whole episode in this process and returns its gateway."""
    monkeypatch.setenv("FIELDMARK_WORKSPACE", str(tmp_path))

    def run(*replies: Reply, **prompt: Any) -> ScriptedGateway:
        gateway = open_gateway(*replies, prompt=make_prompt(**prompt))
        serve(get_agent("react"), GatewayClient(gateway.path))
        return gateway

    return run


def test_in_a_process_of_its_own(open_gateway: OpenGateway, start_worker: StartWorker) -> None:
    gateway = open_gateway(calls(call("crop_zoom", CROP, "a1")), ANSWER)
    assert start_worker(gateway, "react").wait(60) == 0
    assert [answer["text"] for answer in gateway.answers()] == ["Saab 340"]
    assert gateway.done == [{"error": None}]


def test_parallel_calls_keep_their_order(play: Any) -> None:
    two = calls(call("crop_zoom", CROP, "a1"), call("crop_zoom", {**CROP, "x1": 5}, "a2"))
    gateway = play(two, ANSWER)
    assert [call_id for call_id, _ in tool_texts(gateway.requests[1])] == ["a1", "a2"]
    roles = [row["role"] for row in gateway.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert "Picture returned by crop_zoom (call a1)" in texts(gateway.requests[1])
    assert [event["model_call"] for event in gateway.of_kind("tool_call")][-1] == "end"
    assert {event["door"] for event in gateway.of_kind("tool_call")} == {"graph"}
    assert len(gateway.answers()) == 1
    assert gateway.answers()[0]["text"] == "Saab 340"
    assert gateway.done == [{"error": None}]


def test_4_21_a_failing_call_does_not_lose_its_neighbours(play: Any) -> None:
    outside = {"x1": 9999, "y1": 9999, "x2": 9998, "y2": 9998}
    three = calls(
        call("crop_zoom", CROP, "a1"), call("crop_zoom", outside, "a2"), call("crop_zoom", CROP, "a3")
    )
    told = tool_texts(play(three, ANSWER).requests[1])
    assert [call_id for call_id, _ in told] == ["a1", "a2", "a3"]
    assert told[1][1].startswith("Error (invalid_args)")


def test_4_16_unknown_tools_are_named_and_the_known_ones_listed(play: Any) -> None:
    gateway = play(calls(call("google_search", {"q": "x"}, "a1"), call("crop_zoom ", CROP, "a2")), ANSWER)
    (_, first), (_, second) = tool_texts(gateway.requests[1])
    assert "no tool named 'google_search'; the tools are crop_zoom, aircraft_registry, answer" in first
    assert "no tool named 'crop_zoom ' (did you mean crop_zoom?); the tools are crop_zoom" in second
    assert [row["error_kind"] for row in gateway.of_kind("tool_result")][:2] == ["not_found", "not_found"]
    assert gateway.answers()[0]["text"] == "Saab 340"


@pytest.mark.parametrize("arguments", ['{"x1": 10, "y1": ', "{}{}", "[1, 2]"])
def test_4_14_arguments_that_are_not_an_object_are_told_and_never_run(play: Any, arguments: str) -> None:
    gateway = play(calls(call("crop_zoom", arguments, "a1")), ANSWER)
    [(call_id, text)] = tool_texts(gateway.requests[1])
    assert call_id == "a1"
    assert "JSON" in text
    assert not any("region" in route for route in gateway.routes)
    echoed = gateway.requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(echoed) == {"malformed": arguments}
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_4_14_arguments_that_stay_malformed_end_with_their_own_class(play: Any) -> None:
    gateway = play(calls(call("crop_zoom", "{}{}", "a1")))
    assert len(gateway.requests) == 4
    assert "tools" not in gateway.requests[-1]
    assert gateway.done[0]["error"]["kind"] == "tool_call_malformed"


def test_4_13_arguments_in_python_are_run_marked_and_sent_back_as_json(play: Any) -> None:
    written = "{'x1': 10, 'y1': 10, 'x2': 60, 'y2': 60,}  // the tail"
    final = "{'text': \"the DC-3's tail\", 'confidence': 0.5,}"
    gateway = play(calls(call("crop_zoom", written, "a1")), calls(call("answer", final, "end")))
    [(_, told)] = tool_texts(gateway.requests[1])
    assert told.startswith("Shown: original pixels [10,10,60,60]")
    crop, answer = gateway.of_kind("tool_call")
    assert (crop["arguments"], crop["repaired"], answer["repaired"]) == (written, True, True)
    echoed = gateway.requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(echoed) == CROP
    assert gateway.answers()[0]["text"] == "the DC-3's tail"


def test_4_12_tool_syntax_in_the_thinking_is_not_a_call(play: Any) -> None:
    thought = (
        '<think>I could call <tool_call>{"name": "crop_zoom", "arguments": {}}</tool_call> but no.</think>'
    )
    gateway = play(says(f"{thought}\nFinal answer: Saab 340"))
    assert gateway.of_kind("tool_call") == []
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_the_model_is_told_the_space_of_its_boxes_and_read_in_it(play: Any) -> None:
    quarter = {"x1": 0, "y1": 0, "x2": 500, "y2": 500}
    gateway = play(calls(call("crop_zoom", quarter)), ANSWER, space="norm1000")
    functions = {tool["function"]["name"]: tool["function"] for tool in gateway.requests[0]["tools"]}
    assert functions["crop_zoom"]["parameters"]["properties"]["space"]["default"] == "norm1000"
    assert "0 to 1000 along each side" in gateway.requests[0]["messages"][0]["content"]
    image = gateway.prompt.image
    [route] = [route for route in gateway.routes if "region" in route]
    assert f"box=0%2C0%2C{image.width // 2}%2C{image.height // 2}" in route


def test_huge_names_ids_and_texts_do_not_break_the_record(play: Any) -> None:
    huge = "机" * 100_000
    gateway = play(
        calls(call(huge, CROP, "a1"), call("crop_zoom", CROP, huge), call("crop_zoom", {"x1": huge}, "a3")),
        ANSWER,
    )
    assert [answer["text"] for answer in gateway.answers()] == ["Saab 340"]
    assert max(len(json.dumps(event)) for event in gateway.events) < 64_000


def test_4_19_missing_ids_are_made_once_and_used_on_both_sides(play: Any) -> None:
    gateway = play(calls(call("crop_zoom", CROP, None), call("crop_zoom", CROP, None)), ANSWER)
    messages = gateway.requests[1]["messages"]
    asked = [row["id"] for row in messages[2]["tool_calls"]]
    assert asked == [call_id for call_id, _ in tool_texts(gateway.requests[1])]
    assert len(set(asked)) == 2
    assert all(asked)


def always_crop(request: Json) -> Json:
    if "tools" not in request:
        return says('{"answer": "Saab", "confidence": 0.4}')
    return calls(call("crop_zoom", CROP, None), text="Let me look closer.")


@pytest.mark.parametrize("turns", [1, 3, 30])
def test_the_turn_budget_ends_in_one_turn_without_tools(play: Any, turns: int) -> None:
    gateway = play(always_crop, limits=Limits(turns=turns, model_calls=0))
    assert len(gateway.requests) == turns + 1
    assert ["tools" in request for request in gateway.requests] == [True] * turns + [False]
    assert gateway.answers()[0]["text"] == "Saab"
    assert gateway.done == [{"error": None}]


def test_no_answer_even_in_the_last_turn(play: Any) -> None:
    gateway = play(calls(call("crop_zoom", CROP)), limits=Limits(turns=2))
    assert len(gateway.requests) == 3
    assert gateway.done[0]["error"] == {"kind": "max_turns", "message": "no answer within 2 turns"}
    assert gateway.answers() == []


def test_text_without_calls_is_the_answer(play: Any) -> None:
    gateway = play(says("<think>{}</think>\nFinal answer: Saab 340"))
    assert gateway.answers()[0]["text"] == "Saab 340"
    assert len(gateway.requests) == 1


EXHAUSTED = {"http": 400, "error": {"message": "40 calls used", "code": "budget_exhausted"}}


def test_budget_in_the_middle_keeps_an_answer_that_was_given(play: Any) -> None:
    gateway = play(calls(call("crop_zoom", CROP), text="Answer: Saab 340\nI will check."), EXHAUSTED)
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_budget_in_the_middle_invents_nothing(play: Any) -> None:
    gateway = play(calls(call("crop_zoom", CROP), text="Let me look closer."), EXHAUSTED)
    assert gateway.answers() == []
    assert gateway.done[0]["error"]["kind"] == "budget"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (says("", finish="length"), "truncated"),
        (says(None, finish="length"), "truncated"),
        (says(None, reasoning_content="So the answer is Saab 340"), "reasoning_only"),
        (says(None, refusal="I cannot help with that."), "refused"),
        (says("", finish="content_filter"), "refused"),
        (says('<tool_call>{"name": "ocr", "arguments": {}}</tool_call>'), "tool_call_malformed"),
        (says(None), None),
    ],
)
def test_replies_without_text_are_asked_again_once(play: Any, reply: Json, kind: str | None) -> None:
    gateway = play(reply)
    assert len(gateway.requests) == 2
    error = gateway.done[0]["error"]
    assert (error and error["kind"]) == kind
    assert [answer["text"] for answer in gateway.answers()] == ([] if kind else [""])


def test_old_tool_pictures_become_text_and_the_task_picture_stays(play: Any) -> None:
    boxes = iter(range(100))

    def crops(request: Json) -> Json:
        return calls(call("crop_zoom", {**CROP, "x1": next(boxes)}, None))

    gateway = play(crops, limits=Limits(turns=15))
    assert [len(images(request)) for request in gateway.requests] == [min(n, 5) + 1 for n in range(16)]
    assert len({images(request)[0] for request in gateway.requests}) == 1
    assert "no longer shown" in texts(gateway.requests[-1])
    fetched = [route for route in gateway.routes if route.startswith("GET /image")]
    assert len(fetched) == len(set(fetched))


def test_a_model_without_eyes_gets_text_only(play: Any) -> None:
    gateway = play(calls(call("crop_zoom", CROP)), ANSWER, sees=False)
    assert images(gateway.requests[1]) == []
    assert "this model takes no pictures" in texts(gateway.requests[1])
    assert [row["role"] for row in gateway.requests[1]["messages"]] == ["system", "user", "assistant", "tool"]


def test_a_server_that_takes_one_picture(play: Any) -> None:
    def one_only(request: Json) -> Json:
        if len(images(request)) > 1:
            return {"http": 400, "error": {"message": "At most 1 image(s) may be provided", "code": None}}
        return calls(call("crop_zoom", CROP)) if len(request["messages"]) < 6 else ANSWER

    gateway = play(one_only)
    assert gateway.answers()[0]["text"] == "Saab 340"
    assert "request refused" in gateway.of_kind("log")[0]["message"]


def test_a_request_too_large_is_sent_again_smaller(play: Any) -> None:
    refused = {"http": 413, "error": {"message": "Request Entity Too Large", "code": "request_too_large"}}
    gateway = play(refused, says("Final answer: Saab 340"))
    assert len(gateway.requests) == 2
    assert any("type=image%2Fjpeg" in route for route in gateway.routes)
    assert gateway.answers()[0]["text"] == "Saab 340"


def test_other_refusals_end_the_episode(play: Any) -> None:
    gateway = play({"http": 400, "error": {"message": "Unsupported value", "code": "unsupported_value"}})
    assert len(gateway.requests) == 1
    assert gateway.done[0]["error"]["kind"] == "model_refused"


def test_a_broken_answer_call_does_not_end_the_episode(play: Any) -> None:
    gateway = play(calls(call("answer", {"text": "  "}, "a1")), ANSWER)
    assert tool_texts(gateway.requests[1])[0][1].startswith("Error (invalid_args)")
    assert [answer["text"] for answer in gateway.answers()] == ["Saab 340"]


def test_scout_as_its_model(play: Any) -> None:
    def scout(request: Json) -> Json:
        reply = respond(request)
        made = [call(row["name"], row["arguments"], None) for row in reply.tool_calls]
        return calls(*made, text=reply.text) if made else says(reply.text)

    gateway = play(scout, sees=False)
    assert [answer["text"] for answer in gateway.answers()] == ["unknown"]
    assert "no vision" in gateway.answers()[0]["rationale"]
    assert gateway.done == [{"error": None}]


def test_calls_of_a_turn_run_at_the_same_time(open_gateway: OpenGateway) -> None:
    both = Barrier(2, timeout=10)

    def run(args: Args, context: Any) -> ToolResult:
        both.wait()
        return ToolResult("met")

    meet = Tool(name="meet", description="", args=Args, action="other", run=run)
    gateway = open_gateway(calls(call("meet", {}, "a"), call("meet", {}, "b")), says("Answer: Saab 340"))
    answer = get_agent("react").solve(gateway.prompt, GatewayClient(gateway.path), [meet])
    assert answer.text == "Saab 340"
    assert tool_texts(gateway.requests[1]) == [("a", "met"), ("b", "met")]
