"""Steps, what ran beside what, and the windows of a long trace."""

from __future__ import annotations

from typing import Any

from fieldmark.evals.inspector.timeline import WINDOW, steps, window
from fieldmark.trace import Event, parse_event


def call(seq: int, t: float, name: str) -> Event:
    row = {
        "seq": seq,
        "t": t,
        "by": "sandbox",
        "kind": "tool_call",
        "call": name,
        "name": name,
        "door": "graph",
    }
    return parse_event(row)


def result(seq: int, t: float, name: str, **fields: Any) -> Event:
    row = {
        "seq": seq,
        "t": t,
        "by": "sandbox",
        "kind": "tool_result",
        "call": name,
        "ok": True,
        "seconds": 1.0,
    }
    return parse_event({**row, **fields})


def test_calls_at_once_lie_in_lanes_of_their_own_and_know_each_other() -> None:
    events = [
        call(0, 1.0, "crop"),
        call(1, 1.5, "ocr"),
        result(2, 3.0, "crop"),
        result(3, 4.0, "ocr", ok=False),
    ]
    shown = window(steps([*events, call(4, 5.0, "late")]))
    crop, ocr, late = shown.steps
    assert [(step.name, step.start, step.end, step.lane) for step in (crop, ocr)] == [
        ("crop", 1.0, 3.0, 0), ("ocr", 1.5, 4.0, 1),
    ]  # fmt: skip
    assert (crop.beside, ocr.beside, late.beside) == ([2], [1], [])
    assert (crop.failed, ocr.failed) == (False, True)
    assert (late.end, late.lane) == (None, 0)
    assert (shown.at(3.0), shown.width(crop)) == (50.0, 50.0)


def test_a_window_holds_the_event_that_is_asked_for() -> None:
    logs = [{"seq": n, "t": n, "by": "runner", "kind": "log", "message": "x"} for n in range(3 * WINDOW)]
    found = steps(parse_event(row) for row in logs)
    middle = window(found, holding=WINDOW + 6)
    assert (middle.first, len(middle.steps), middle.previous, middle.next) == (
        WINDOW,
        WINDOW,
        1,
        2 * WINDOW + 1,
    )
    assert window(found, number=10**6).steps[-1].number == 3 * WINDOW
    assert window([]).steps == []
