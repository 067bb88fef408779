"""A long trace is read in parts, and tells the same as the whole of it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.inspector.timeline import WINDOW, steps, window
from fieldmark.evals.inspector.trace_file import KEPT, TraceFile, Traces, window_of
from fieldmark.trace import Event, parse_event


def rows(count: int) -> list[dict[str, Any]]:
    """Tool calls by twos that run at once, with a log after each pair of results."""
    made: list[dict[str, Any]] = []
    for n in range(count):
        call = {"by": "sandbox", "name": "ocr", "door": "graph", "arguments": {"text": "x" * 400}}
        made += [{**call, "kind": "tool_call", "call": f"{n}{which}"} for which in "ab"]
        made += [
            {"by": "sandbox", "kind": "tool_result", "call": f"{n}{which}", "ok": True, "seconds": 1.0}
            for which in "ba"
        ]
        made.append({"by": "runner", "kind": "log", "message": f"pair {n}"})
    return [{"seq": seq, "t": float(seq), **row} for seq, row in enumerate(made)]


def written(path: Path, told: list[dict[str, Any]]) -> Path:
    jsonl.write_all(path, told)
    return path


def test_its_events_steps_and_windows_are_those_of_the_whole(tmp_path: Path) -> None:
    told = rows(300)
    trace, whole = TraceFile(written(tmp_path / "a.jsonl", told)), [parse_event(row) for row in told]
    assert list(trace) == whole
    assert trace.steps[:] == steps(whole)
    assert trace.steps[-1] == steps(whole)[-1]
    assert [event.seq for event in trace.of("log", b"pair 29")] == [149, *range(1454, 1500, 5)]
    assert [event.seq for event in trace.back_from(9, "log")] == [4]
    shown, all_of_it = window_of(trace, None, 1003), window(steps(whole), holding=602)
    assert (shown, shown.first) == (all_of_it, 3 * WINDOW)
    assert window_of(trace, None, 99_999).first == 0


def test_a_bad_line_is_left_out_and_half_a_line_waits_for_its_rest(tmp_path: Path) -> None:
    path, traces = written(tmp_path / "a.jsonl", rows(1)), Traces()
    line = jsonl.encode({"seq": 9, "t": 9, "by": "runner", "kind": "log", "message": "late"})
    with path.open("ab") as file:
        file.write(b'not json\n\n{"kind": "tool_call"}\n[1]\n' + line[:20])
    first = traces.of(path, growing=True)
    assert len(first) == 5
    with path.open("ab") as file:
        file.write(line[20:])
    assert traces.of(path, growing=True) is first
    assert [event.seq for event in first] == [0, 1, 2, 3, 4, 9]


def test_a_file_that_became_another_is_read_anew(tmp_path: Path) -> None:
    path, traces = written(tmp_path / "a.jsonl", rows(1)), Traces()
    before = traces.of(path, growing=True)
    written(path, rows(2))
    assert len(traces.of(path, growing=True)) == 10
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(UsageError, match="changed while it was read"):
        list(before)
    path.unlink()
    assert list(traces.of(path, growing=False)) == []


def test_what_is_kept_of_long_traces_is_small_and_of_few(tmp_path: Path) -> None:
    traces, told = Traces(), rows(400)
    paths = [written(tmp_path / f"{n}.jsonl", told) for n in range(KEPT + 2)]
    first = traces.of(paths[0], growing=False)
    tracemalloc.start()
    for path in paths[1:]:
        traces.of(path, growing=False)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < KEPT * len(told) * 300
    assert traces.of(paths[0], growing=False) is not first


def test_there_may_be_no_file(tmp_path: Path) -> None:
    trace = TraceFile(tmp_path / "none.jsonl")
    assert (len(trace), list(trace), list(trace.steps), trace.place(0)) == (0, [], [], None)
    shown: list[Event] = [event for step in window_of(trace, 5, None).steps for event in step.events]
    assert shown == []
