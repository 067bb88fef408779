"""Where two traces part."""

from __future__ import annotations

from typing import Any

from fieldmark.forking.difference import first_difference
from fieldmark.trace import Event, parse_event


def trace(text: str = "N8710M", t: float = 1.0, **more: Any) -> list[Event]:
    rows: list[dict[str, Any]] = [
        {"kind": "tool_call", "call": "c", "name": "ocr", "door": "graph"},
        {"kind": "tool_result", "call": "c", "ok": True, "seconds": t, "text": text},
        {"kind": "model_response", "call": "m2", "http": 200, "seconds": t, "text": "a plane", **more},
    ]
    return [parse_event({"seq": n, "t": t, "by": "gateway", **row}) for n, row in enumerate(rows)]


def test_times_do_not_count() -> None:
    assert first_difference(trace(), trace(t=2.0)) is None


def test_the_first_event_that_differs_is_named() -> None:
    found = first_difference(trace(), trace("nothing"))
    assert found is not None
    assert (found.event, found.what) == (1, ["text"])
    assert found.line == "event 1, tool_result c: text"


def test_what_was_changed_itself_does_not_count() -> None:
    changed = trace(forked={"change": "reply"}, error="x")
    assert first_difference(trace(), changed) is None
    found = first_difference(trace(), changed, beside_change=False)
    assert found is not None
    assert found.line == "event 2, model_response m2: error"


def test_a_trace_may_end_earlier() -> None:
    found = first_difference(trace(), trace()[:2])
    assert found is not None
    assert found.line == "event 2: model_response there, the end here"
