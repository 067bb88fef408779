"""`builtin/scout` in Messages, which has no SDK here, and over a whole conversation in each format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sandbox.gateway.conftest import Enter
from tests.sandbox.gateway.wire.samples import FORMATS, SCHEMA, ask, request

TOOL = {"name": "ocr", "input_schema": SCHEMA}
BODY = {"model": "scout", "max_tokens": 100, "tools": [TOOL]}
QUESTION = "Question: Which aircraft is this?"
ASKED = {"role": "user", "content": "What is this?"}


async def test_messages_whole(enter: Enter) -> None:
    async with enter() as inside:
        reply = (await ask(inside, "messages", {**BODY, "messages": [ASKED]})).json()
        counted = await inside.ask("POST", "/v1/messages/count_tokens", {**BODY, "messages": [ASKED]})
    [block] = reply["content"]
    assert (block["type"], block["name"], block["input"]) == ("tool_use", "ocr", {"mode": "registration"})
    assert (reply["role"], reply["stop_reason"]) == ("assistant", "tool_use")
    assert counted.json() == {"input_tokens": 0}


async def test_messages_streamed(enter: Enter) -> None:
    async with enter() as inside:
        reply = await ask(inside, "messages", {**BODY, "messages": [ASKED], "stream": True})
        [response] = inside.events("model_response")
    events = [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert reply.body.decode().startswith("event: message_start\ndata: ")
    [call] = response["tool_calls"]
    assert (call["name"], json.loads(call["arguments"])) == ("ocr", {"mode": "registration"})


def results(text: str) -> dict[str, Any]:
    """A conversation of each format in which the reading of registrations came to this."""
    said = json.dumps({"mode": "registration"})
    result = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": text}]}
    return {
        "chat_completions": {
            "messages": [
                {"role": "user", "content": QUESTION},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "1", "function": {"name": "ocr", "arguments": said}}],
                },
                {"role": "tool", "tool_call_id": "1", "content": text},
            ]
        },
        "responses": {
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
                {"type": "function_call", "call_id": "1", "name": "ocr", "arguments": said},
                {"type": "function_call_output", "call_id": "1", "output": text},
            ]
        },
        "messages": {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "1", "name": "ocr", "input": json.loads(said)}],
                },
                {"role": "user", "content": [result]},
            ]
        },
    }


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_result_of_a_call_decides_the_next(enter: Enter, wire: str, stream: bool) -> None:
    mark = {"text": "N8710M", "raw": "N8710M", "confidence": 0.93, "box": [10, 20, 90, 40], "nation": "US"}
    text = "One mark.\ndata: " + json.dumps({"found": True, "registrations": [mark], "lines": []})
    names = ("ocr", "aircraft_registry", "answer")
    tools = {
        "chat_completions": [{"type": "function", "function": {"name": name}} for name in names],
        "responses": [{"type": "function", "name": name, "parameters": {}} for name in names],
        "messages": [{"name": name, "input_schema": {}} for name in names],
    }  # fmt: skip
    async with enter() as inside:
        await ask(inside, wire, {"model": "x", "stream": stream, "tools": tools[wire], **results(text)[wire]})
        [response] = inside.events("model_response")
    [call] = response["tool_calls"]
    assert (call["name"], json.loads(call["arguments"])) == ("aircraft_registry", {"registration": "N8710M"})
    assert (response["finish"], response["tokens"]) == ("tool_calls", SPENT[wire])


SPENT = {
    "chat_completions": {"input": 0, "output": 0, "cached": 0, "reasoning": 0},
    "responses": {"input": 0, "output": 0, "cached": 0, "reasoning": 0},
    "messages": {"input": 0, "output": 0, "cached": 0},
}


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("stream", [False, True])
async def test_without_tools_it_says_its_answer(enter: Enter, wire: str, stream: bool) -> None:
    async with enter() as inside:
        body = {**request(wire, stream=stream), "tools": []}
        await ask(inside, wire, body)
        [response] = inside.events("model_response")
    assert (response["text"], response["finish"]) == ("unknown", "stop")
