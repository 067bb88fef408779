"""Model, tool, waiting and own time: every second of an episode once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fieldmark.evals.metrics.phases import phases
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.phases_table import phases_table
from fieldmark.records import EpisodeRecord
from fieldmark.trace import Event, parse_event

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

REQUEST = {
    "kind": "model_request", "by": "gateway", "wire": "chat_completions", "model": "m", "asked": {},
    "sent": {}, "tools": [], "messages": [], "pictures": [],
}  # fmt: skip


def asked(call: str, t: float, **more: Any) -> dict[str, Any]:
    return {**REQUEST, "call": call, "t": t, **more}


def replied(call: str, t: float, seconds: float) -> dict[str, Any]:
    return {
        "kind": "model_response", "by": "gateway", "call": call, "t": t, "seconds": seconds, "http": 200
    }  # fmt: skip


def called(call: str, t: float) -> dict[str, Any]:
    return {"kind": "tool_call", "by": "sandbox", "call": call, "name": "ocr", "door": "graph", "t": t}


def done(call: str, t: float, seconds: float) -> dict[str, Any]:
    return {"kind": "tool_result", "by": "sandbox", "call": call, "t": t, "seconds": seconds, "ok": True}


def events(*rows: dict[str, Any]) -> list[Event]:
    return [parse_event({"seq": seq, **row}) for seq, row in enumerate(rows)]


def record(seconds: float, charged: float | None = None) -> EpisodeRecord:
    return EpisodeRecord(
        id="a", status="answered", agent="x", model="m", seconds=seconds,
        charged_seconds=seconds if charged is None else charged, started="", trace="a.jsonl",
    )  # fmt: skip


def test_the_rest_is_the_frameworks_own() -> None:
    trace = events(
        asked("m1", 1.0), replied("m1", 4.0, 3.0), called("c1", 4.5), done("c1", 6.5, 2.0),
        asked("m2", 7.0), replied("m2", 9.0, 2.0),
    )  # fmt: skip
    assert phases(trace, record(10.0)) == pytest.approx((5.0, 2.0, 0.0, 3.0))


def test_parallel_calls_are_not_counted_double() -> None:
    """Two sub-agents ask at once; two tools overlap; eyes are asked from within a tool."""
    trace = events(
        asked("m1", 0.0), asked("m2", 1.0), replied("m1", 4.0, 4.0), replied("m2", 5.0, 4.0),
        called("c1", 5.0), called("c2", 5.0), asked("e1", 6.0, role="eyes"), replied("e1", 7.0, 1.0),
        done("c1", 8.0, 3.0), done("c2", 9.0, 4.0),
    )  # fmt: skip
    assert phases(trace, record(10.0)) == pytest.approx((6.0, 3.0, 0.0, 1.0))


def test_what_the_gateway_waited_is_neither_the_models_nor_the_frameworks() -> None:
    """A 429 and back-off of 20 s before a reply of 2 s; a look-up queues for 3 of its 5 s."""
    trace = events(asked("m1", 0.0), replied("m1", 22.0, 2.0), called("c1", 22.0), done("c1", 27.0, 5.0))
    assert phases(trace, record(28.0, charged=5.0)) == pytest.approx((2.0, 2.0, 23.0, 1.0))


def test_a_call_that_nobody_answered_lasts_to_the_end() -> None:
    hung = events(asked("m1", 0.0), replied("m1", 1.0, 1.0), asked("m2", 2.0))
    assert phases(hung, record(240.0)) == pytest.approx((239.0, 0.0, 0.0, 1.0))
    refused = record(240.0, charged=40.0)  # 200 s of those it was the gateway that waited
    assert phases(hung, refused) == pytest.approx((39.0, 0.0, 200.0, 1.0))
    tool = events(asked("m1", 0.0), replied("m1", 1.0, 1.0), called("c1", 2.0))
    assert phases(tool, record(240.0)) == pytest.approx((1.0, 238.0, 0.0, 1.0))


def test_times_that_cannot_be_stay_inside_the_episode() -> None:
    """A tool inside claims its own seconds: whatever it says, the four make up the episode."""
    trace = events(asked("m1", 0.0), replied("m1", 30.0, 99.0), called("c1", 1.0), done("c1", 2.0, 1e9))
    found = phases(trace, record(10.0, charged=-5.0))
    assert sum(found) == pytest.approx(10.0)
    assert min(found) >= 0


def test_the_table_has_medians_and_shares_of_each_category(build_run: BuildRun) -> None:
    run = build_run()
    for name, seconds in (("a", 2.0), ("b", 4.0)):
        run.task(name, top="Culture")
        run.episode(name, seconds=seconds, verdict="correct").step(("ocr", "ok"))
    table = phases_table(summarise(run.finish()))
    assert [row[:3] for row in table.rows] == [["Culture", "2", "3.0"], ["all", "2", "3.0"]]
    assert sum(float(cell) for cell in table.rows[1][-4:]) == pytest.approx(100, abs=0.2)


def test_an_episode_without_a_trace_is_not_known(build_run: BuildRun) -> None:
    run = build_run().task("a").task("b")
    run.episode("a", verdict="correct")
    run.episode("b", verdict="correct")
    folder = run.finish()
    (folder.traces / folder.episodes()[1].trace).unlink()
    assert phases_table(summarise(folder)).rows[-1][1] == "1 of 2"
