"""A trace in short."""

from __future__ import annotations

import json
from typing import Any

from fieldmark.evals.failures.rendering import MAX_CHARACTERS, as_lines, compact, seqs, steps
from fieldmark.trace import Event, parse_event


def trace(*events: dict[str, Any]) -> list[Event]:
    defaults = {"t": 0.0, "by": "sandbox"}
    return [parse_event({"seq": seq, **defaults, **event}) for seq, event in enumerate(events)]


def call(name: str, text: str, **arguments: Any) -> list[dict[str, Any]]:
    return [
        {"kind": "tool_call", "call": name, "name": name, "arguments": arguments, "door": "graph"},
        {"kind": "tool_result", "call": name, "ok": True, "seconds": 0.1, "text": text},
    ]


def test_each_step_has_its_event_and_nothing_that_is_empty() -> None:
    events = trace(
        {
            "kind": "model_response",
            "by": "gateway",
            "call": "m0",
            "http": 200,
            "seconds": 1,
            "text": "I look.",
        },
        *call("ocr", "N340SA", mode="registration"),
        {"kind": "egress", "method": "GET", "url": "http://x", "decision": "allowed", "http": 200},
        {"kind": "egress", "method": "GET", "url": "http://y", "decision": "denied"},
        {"kind": "answer", "text": "Saab 340"},
        {"kind": "episode_end", "status": "answered", "seconds": 1, "charged_seconds": 1, "counts": {}},
    )
    assert steps(events, 100) == [
        {"event": 0, "says": "I look."},
        {"event": 1, "calls": "ocr", "arguments": {"mode": "registration"}},
        {"event": 2, "result_of": "ocr", "ok": True, "text": "N340SA"},
        {"event": 4, "web": "http://y", "decision": "denied"},
        {"event": 5, "answer": "Saab 340"},
        {"event": 6, "ends_as": "answered"},
    ]
    assert as_lines(steps(events, 100))[1] == '[  1] calls: ocr  arguments: {"mode": "registration"}'


def test_a_call_that_two_tell_of_is_told_once() -> None:
    native = {
        "kind": "tool_call",
        "by": "gateway",
        "call": "g",
        "name": "ocr",
        "door": "native",
        "tap": "m0.0",
    }
    inside = {"kind": "tool_call", "call": "c", "name": "ocr", "door": "mcp", "tap": "m0.0"}
    assert seqs(steps(trace(native, inside), 100)) == {1}
    assert seqs(steps(trace(native), 100)) == {0}


def test_a_call_that_no_event_tells_of_stands_with_the_reply_that_asked_for_it() -> None:
    asked = [{"id": "1", "name": "ocr", "arguments": "{}"}, {"id": "2", "name": "image", "arguments": "{}"}]
    reply = {"kind": "model_response", "call": "m0", "http": 200, "seconds": 1, "tool_calls": asked}
    heard = {"kind": "tool_call", "call": "c", "name": "ocr", "door": "graph", "model_call": "1"}
    assert steps(trace(reply, heard), 100) == [
        {"event": 0, "asks_for": ["image"]},
        {"event": 1, "calls": "ocr"},
    ]


def test_the_tool_that_gave_the_answer_is_the_answer() -> None:
    events = trace(*call("answer", "answer recorded"), {"kind": "answer", "text": "Saab 340"})
    assert steps(events, 100) == [{"event": 2, "answer": "Saab 340"}]
    failed = trace({**call("answer", "")[0]}, {**call("answer", "")[1], "ok": False, "error": "no text"})
    assert [step["event"] for step in steps(failed, 100)] == [0, 1]


def test_what_another_model_says_is_left_out() -> None:
    request: dict[str, Any] = {
        "kind": "model_request",
        "call": "e0",
        "role": "eyes",
        "wire": "chat_completions",
    }
    request |= {"model": "m", "asked": {}, "sent": {}, "tools": [], "messages": [], "pictures": []}
    reply = {"kind": "model_response", "call": "e0", "http": 200, "seconds": 1, "text": "a plane"}
    assert steps(trace(request, reply), 100) == []


def test_a_long_trace_keeps_its_beginning_and_its_end() -> None:
    events = trace(*(part for n in range(400) for part in call(f"c{n}", "x" * 5_000)))
    made = compact(events)
    assert len(json.dumps(made)) <= MAX_CHARACTERS * 1.1
    assert {0, 799} <= seqs(made)
    assert any("left_out" in step for step in made)


def test_a_short_trace_is_whole() -> None:
    [_, result] = compact(trace(*call("ocr", "y" * 1_900)))
    assert result["text"] == "y" * 1_900
