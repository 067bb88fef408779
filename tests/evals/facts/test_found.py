"""Each fact of an episode, from a trace that shows it and one that does not."""

from __future__ import annotations

import time

import pytest

from fieldmark.evals.facts.found import facts_of, gold_facts_of, judged
from fieldmark.records import Verdict, VerdictLabel
from fieldmark.task import Gold
from tests.evals.facts.traces import Trace

SAAB = Gold(answer="Saab 340")


def verdict(label: VerdictLabel) -> Verdict:
    return Verdict(id="t", label=label, score=0, judge="exact")


def test_what_was_done_before_the_answer() -> None:
    trace = Trace().call("ocr", {}, ok=False).call("crop_zoom").call("web_search", {"query": "x"}).answer("y")
    facts = facts_of(trace.record, trace.events)
    assert (facts.acts, facts.failed_acts, facts.looked, facts.searched) == (3, 1, True, True)
    assert (facts.answered_from, facts.first_act, facts.picture) == ("retrieval", 0.3, "exact")


@pytest.mark.parametrize(
    ("trace", "source"),
    [
        (Trace(), "no_act"),
        (Trace().call("recall"), "no_act"),
        (Trace().call("web_search", ok=False), "other"),
        (Trace().call("bash"), "other"),
        (Trace().call("bash").call("ocr"), "looking"),
        (Trace().call("ocr").call("open_page"), "retrieval"),
    ],
)
def test_what_an_answer_came_from(trace: Trace, source: str) -> None:
    facts = facts_of(trace.answer("x").record, trace.events)
    assert facts.answered_from == source
    assert (facts.first_act is None) == (source == "no_act")


def test_a_picture_that_went_is_lost() -> None:
    kept = Trace().reply().answer("x")
    assert not facts_of(kept.record, kept.events).picture_lost
    gone = Trace().reply().reply(picture=False).add("sandbox", "answer", text="x")
    assert facts_of(gone.record, gone.events).picture_lost


def test_where_the_answer_stood_first() -> None:
    trace = Trace().call("ocr", {}, "HB-AKA").call("web_search", {"query": "HB-AKA"}, "a SAAB 340B")
    trace.call("open_page", {"url": "https://x.example"}, "the Saab 340B").answer("Saab 340B")
    assert facts_of(trace.record, trace.events).answer_event == 8
    own = Trace().call("web_search", {"query": "Saab 340B"}, "Saab 340B").answer("Saab 340B")
    assert facts_of(own.record, own.events).answer_event is None
    told = Trace().call("ocr", {}, "left").answer("left")
    assert facts_of(told.record, told.events, "Left or right?").answer_event is None


@pytest.mark.parametrize(
    ("text", "label", "supported"),
    [
        ("a Saab 340", "correct", True),
        ("a plane", "correct", False),
        ("a Saab 340", "incorrect", None),
        ("a Saab 340", "partially_correct", None),
    ],
)
def test_a_correct_answer_is_supported_by_what_was_seen(
    text: str, label: VerdictLabel, supported: bool | None
) -> None:
    trace = Trace().call("reverse_image_search", {}, text).answer("Saab 340")
    facts = gold_facts_of(trace.record, trace.events, SAAB, verdict=verdict(label))
    assert facts.supported is supported


def test_a_correct_answer_by_another_name_is_supported_where_that_name_stood() -> None:
    trace = Trace().call("reverse_image_search", {}, "a SF340A").answer("SF340A")
    facts = gold_facts_of(trace.record, trace.events, SAAB, verdict=verdict("correct"))
    assert (facts.seen, facts.supported) == (False, True)


def test_an_answer_of_which_nothing_can_be_known_is_neither() -> None:
    trace = Trace().call("ocr", {}, "left").answer("left")
    facts = gold_facts_of(
        trace.record, trace.events, Gold(answer="left"), "Left or right?", verdict("correct")
    )
    assert (facts.seen, facts.supported) == (None, None)


def test_a_right_name_that_was_given_up_is_dropped() -> None:
    trace = Trace().reply("Looks like a Saab 340.").call("ocr").answer("ATR 42", "No Saab 340: an ATR 42")
    facts = gold_facts_of(trace.record, trace.events, SAAB)
    assert (facts.dropped, facts.dropped_event) == (True, 2)
    assert judged(facts, None, verdict("incorrect")).dropped
    assert not judged(facts, None, verdict("correct")).dropped


@pytest.mark.parametrize(
    "trace",
    [
        Trace().reply("<think>A Saab 340?</think>A plane.").answer("ATR 42"),
        Trace().reply("A Saab 340.").answer("a Saab 340, or an ATR 42"),
        Trace().reply("A Saab 340."),
        Trace().answer("ATR 42", "It is no Saab 340 but an ATR 42"),
        Trace().call("web_search", {"query": "x"}, "Saab 340").answer("ATR 42"),
    ],
)
def test_what_was_thought_kept_or_only_read_is_not_dropped(trace: Trace) -> None:
    assert not gold_facts_of(trace.record, trace.events, SAAB).dropped


def test_hypotheses_and_earlier_answers_are_words_of_the_agent() -> None:
    ledger = {"hypotheses": [{"name": "ATR 42"}, {"name": "Saab 340"}]}
    trace = Trace().reply("…").add("sandbox", "log", message="observe", data=ledger).answer("ATR 42")
    assert gold_facts_of(trace.record, trace.events, SAAB).dropped_event == 3
    twice = Trace().reply().add("sandbox", "answer", text="Saab 340").answer("ATR 42")
    assert gold_facts_of(twice.record, twice.events, SAAB).dropped_event == 3


@pytest.mark.parametrize(
    ("box", "looked"),
    [
        ((1000, 1000, 1200, 1100), True),
        ((900, 900, 1600, 1500), True),
        ((1150, 1000, 1300, 1100), False),
        ((0, 0, 4000, 3000), False),
        ((0, 0, 3999, 2999), False),
    ],
)
def test_the_right_place_was_looked_at(box: tuple[float, ...], looked: bool) -> None:
    gold = Gold(answer="Saab 340", regions=[(1000, 1000, 1200, 1100)])
    cut = {"blob": "cut", "media_type": "image/png", "width": 9, "height": 9, "of": "original", "box": box}
    trace = Trace().call("crop_zoom", {}, pictures=[cut]).answer("x")
    facts = gold_facts_of(trace.record, trace.events, gold)
    assert (facts.region, facts.region_event) == (looked, 4 if looked else None)
    assert gold_facts_of(trace.record, trace.events, SAAB).region is None


def test_strange_traces_raise_nothing_and_long_ones_take_no_time() -> None:
    deep: object = "Saab 340"
    for _ in range(500):
        deep = [deep]
    trace = Trace().call(
        "web_search", ["Saab", None, {"a": float("inf")}], "\ud800 \x00 \U0010ffff %zz \\u00", deep
    )
    trace.call("ocr", None, "\u202eSaab 340" * 3, {"hits": "none", "found": 0}).opened("http://[half", 200)
    for number in range(40):
        trace.call(
            "open_page", {"url": f"https://x.example/{number}"}, f"飞机 <b> {'Saab plane 中 ' * 4_000}"
        )
    trace.answer("\ud800")
    events = trace.events
    began = time.process_time()
    facts = gold_facts_of(trace.record, events, Gold(answer="Saab 340", evidence=["http://[half", "no link"]))
    assert facts_of(trace.record, events).answered_from == "retrieval"
    assert (facts.seen, facts.reached) == (True, False)
    assert time.process_time() - began < 5
    assert facts_of(trace.record, []).acts == 0
