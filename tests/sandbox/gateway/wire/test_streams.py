"""Streams as servers really send them: cut anywhere, with gaps, repeats and parts that are missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fieldmark.sandbox.gateway.wire.common import ResponseFacts, StreamReader
from fieldmark.sandbox.gateway.wire.formats import format_named
from tests import model_formats
from tests.model_server import Call, Reply
from tests.sandbox.gateway.wire.samples import FORMATS, ROUTES

SAID = Reply("庆典 ☕ 花", [Call("ocr", '{"text":"飞机 é","x":1.50}')], reasoning="想")


def read(wire: str, *chunks: bytes) -> ResponseFacts:
    reader = StreamReader(format_named(wire).read_stream())
    for chunk in chunks:
        reader.feed(chunk)
    return reader.facts()


def events(*rows: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(row, ensure_ascii=False).encode() + b"\n\n" for row in rows)


def chat(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def call(index: int | None, **fields: Any) -> dict[str, Any]:
    where = {} if index is None else {"index": index}
    named = {"id": fields["id"]} if "id" in fields else {}
    function = {key: fields[key] for key in ("name", "arguments") if key in fields}
    return chat(tool_calls=[{**where, **named, "function": function}])


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000, 10**6])
def test_a_stream_may_be_cut_inside_a_character_or_inside_arguments(wire: str, size: int) -> None:
    """Case 4-23. The server's JSON is rewritten in plain UTF-8, as vLLM and Ollama send it."""
    stream = b""
    for event in model_formats.events(ROUTES[wire], "scripted", SAID):
        head, _, data = event.partition(b"data: ")
        plain = (
            data
            if data.startswith(b"[")
            else json.dumps(json.loads(data), ensure_ascii=False).encode() + b"\n\n"
        )
        stream += head + b"data: " + plain
    facts = read(wire, *(stream[at : at + size] for at in range(0, len(stream), size)))
    assert (facts.text, facts.reasoning) == ("庆典 ☕ 花", "想")
    assert [c.arguments for c in facts.tool_calls] == ['{"text":"飞机 é","x":1.50}']
    assert facts.complete


@pytest.mark.parametrize("wire", FORMATS)
def test_arguments_that_are_not_json_stay_as_they_are(wire: str) -> None:
    """Case 4-14: what the model wrote is the fact."""
    broken = Reply(None, [Call("crop_zoom", '{"x1": 10, "y1": ')])
    facts = read(wire, *model_formats.events(ROUTES[wire], "scripted", broken))
    assert [c.arguments for c in facts.tool_calls] == ['{"x1": 10, "y1": ']


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_line_ends_comments_and_a_last_event_without_its_blank_line(end: bytes) -> None:
    lines = [b": hello", b"event: x", b"data: " + json.dumps(chat(content="a")).encode(), b"", b"retry: 5"]
    last = b"data:" + json.dumps({"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}).encode()
    facts = read("chat_completions", end.join([*lines, last]))
    assert (facts.text, facts.finish, facts.complete) == ("ab", "stop", True)


def test_an_event_may_have_several_lines_of_data() -> None:
    facts = read("chat_completions", b'data: {"choices": [{"delta":\ndata: {"content": "a"}}]}\n\n')
    assert facts.text == "a"


@pytest.mark.parametrize("wire", FORMATS)
def test_a_stream_without_an_end_is_not_complete(wire: str) -> None:
    whole = [*model_formats.events(ROUTES[wire], "scripted", Reply("one two three"))]
    assert read(wire, *whole).complete
    # without the word that ends it: finish and [DONE], response.completed, message_stop
    assert not read(wire, *[event for event in whole[:-1] if b'finish_reason": "stop' not in event]).complete


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize(
    "row",
    [
        None, [], "x", 5, {}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": 5}]},
        {"choices": [{"delta": {"tool_calls": [None, {"index": "a", "function": 5}], "content": [5]}}]},
        {"type": 5}, {"type": "response.output_item.done", "output_index": None, "item": 5},
        {"type": "response.output_text.delta", "delta": 5}, {"type": "response.completed", "response": 5},
        {"type": "content_block_delta", "index": 9, "delta": {"text": 5, "partial_json": "{"}},
        {"type": "content_block_start", "content_block": None}, {"type": "message_start", "message": []},
        {"type": "message_delta", "delta": None, "usage": {"output_tokens": -1}}, {"usage": "much"},
    ],
    ids=repr,
)  # fmt: skip
def test_no_event_breaks_the_reader(wire: str, row: Any) -> None:
    facts = read(wire, events(row), b"data: {broken\n\n", b"data:\n\n")
    assert (facts.text, facts.tokens and facts.tokens.output) == (None, None)


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    """Some compatible servers send every parallel call whole, and all of them as index 0 or without one."""
    for index in (0, None):
        facts = read(
            "chat_completions",
            events(
                call(index, id="a", name="ocr", arguments="{}"),
                call(index, id="b", name="crop", arguments="{"),
                call(index, arguments="}"),
            ),
        )  # fmt: skip
        assert [(c.id, c.name, c.arguments) for c in facts.tool_calls] == [
            ("a", "ocr", "{}"),
            ("b", "crop", "{}"),
        ]


def test_usage_of_a_stream_is_what_came_last() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
    details = {"completion_tokens_details": {"reasoning_tokens": 2}}
    facts = read("chat_completions", events({"usage": {"prompt_tokens": 7}}, {"usage": {**usage, **details}}))
    assert facts.tokens is not None
    assert facts.tokens.model_dump() == {"input": 7, "output": 3, "cached": 5, "reasoning": 2}


def test_input_that_a_cache_served_counts_as_input_in_messages() -> None:
    start = {
        "input_tokens": 10,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 20,
        "output_tokens": 1,
    }
    rows = [
        {"type": "message_start", "message": {"usage": start}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 6}},
    ]
    facts = read("messages", events(*rows))
    assert facts.tokens is not None
    assert facts.tokens.model_dump(exclude_none=True) == {"input": 120, "output": 6, "cached": 90}
    assert facts.finish == "stop"


def test_a_message_that_breaks_off_has_no_count_of_output() -> None:
    """What message_start says of output is a placeholder, and an input of 0 is not known yet."""
    rows = [{"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 1}}}]
    facts = read("messages", events(*rows))
    assert facts.tokens is None or (facts.tokens.input, facts.tokens.output) == (None, None)


def test_a_response_whose_last_event_repeats_nothing_is_read_from_its_items() -> None:
    rows = [
        {"type": "response.output_item.done", "output_index": 0,
         "item": {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"}},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "so"},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]  # fmt: skip
    facts = read("responses", events(*rows))
    assert [(c.id, c.name, c.arguments) for c in facts.tool_calls] == [("c", "apply_patch", "*** Begin")]
    assert (facts.text, facts.finish) == ("so", "tool_calls")


def test_calls_that_a_server_carries_out_itself_are_not_the_agents() -> None:
    output = [
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
    ]
    facts = format_named("responses").read_response({"status": "completed", "output": output})
    assert [(c.name, c.arguments) for c in facts.tool_calls] == [("local_shell", '{"command":["ls"]}')]
    blocks = [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]
    assert format_named("messages").read_response({"content": blocks}).tool_calls == []


@pytest.mark.parametrize(
    ("wire", "row"),
    [
        ("chat_completions", {"error": {"message": "overloaded"}}),
        ("responses", {"type": "error", "message": "overloaded", "code": "server_error"}),
        ("responses", {"type": "response.failed", "response": {"error": {"message": "overloaded"}}}),
        ("messages", {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}),
    ],
)
def test_an_error_inside_a_stream_is_a_fact(wire: str, row: Any) -> None:
    assert "overloaded" in (read(wire, events(row)).error or "")
