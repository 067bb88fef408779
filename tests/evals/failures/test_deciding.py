"""What facts decide, and which of two rules goes first."""

from __future__ import annotations

import dataclasses

import pytest

from fieldmark.evals.failures.aircraft_types import aircraft_types
from fieldmark.evals.failures.case import Case, Decision, Open
from fieldmark.evals.failures.deciding import decide
from fieldmark.task import Gold
from tests.evals.failures.making import AIRLINER, APES, PLATE, case

FAILED = (("lens", False), ("web", False))
SEEN = {"seen": True, "seen_event": 3}


def label(of: Case) -> str | None:
    word = decide(of, APES)
    return word.label if isinstance(word, Decision) else None


@pytest.mark.parametrize(
    ("expected", "of"),
    [
        ("timeout_or_budget", case(None, status="timeout")),
        ("timeout_or_budget", case(None, status="budget")),
        ("generation_or_empty", case(None, status="empty")),
        ("generation_or_empty", case(None, status="agent_error")),
        ("generation_or_empty", case("  ")),
        ("tool_failure", case(None, [("ocr", True), ("web", False)], status="agent_error")),
        ("judge_or_label_doubt", case(outcome="uncertain")),
        ("judge_or_label_doubt", case(audit="right")),
        ("judge_or_label_doubt", case("Mandrillus sphinx")),
        ("format_or_instruction", case("Saab 340 or Fokker 50")),
        ("no_acquisition", case(calls=[])),
        ("tool_failure", case(calls=FAILED)),
        ("tool_failure", case(calls=[("ocr", True), *FAILED])),
        ("visual_grounding", case(calls=[("web", True)], facts={"picture": "none"})),
        ("too_broad", case("monkey")),
        ("neighbour_confusion", case("drill")),
        ("neighbour_confusion", case("drill", found=SEEN)),
        ("too_broad", case("ape", outcome="partially_correct")),
        ("wrong_entity_retrieval", case(found=SEEN)),
        ("wrong_entity_retrieval", case(found={"confirmed_event": 3})),
        ("visual_grounding", case(found={"region": False})),
        ("visual_grounding", case("N34OSA", gold=PLATE)),
        ("visual_grounding", case(calls=[("web", True)], facts={"picture_lost": True})),
        ("wrong_entity_retrieval", case()),
    ],
)
def test_each_class_has_its_facts(expected: str, of: Case) -> None:
    assert label(of) == expected


@pytest.mark.parametrize(
    ("expected", "of"),
    [
        ("timeout_or_budget", case("mandrill", status="timeout", found=SEEN)),  # an end before a word
        ("generation_or_empty", case(None, FAILED, status="empty")),  # silence before failed tools
        ("judge_or_label_doubt", case("a or b", outcome="uncertain")),  # doubt before form
        ("format_or_instruction", case("I cannot tell", calls=[])),  # form before no act
        ("no_acquisition", case("monkey", calls=[])),  # no act before what the answer is
        ("tool_failure", case("monkey", FAILED)),  # failed tools before what the answer is
        ("visual_grounding", case("monkey", [("web", True)], facts={"picture": "none"}, found=SEEN)),
        ("too_broad", case("monkey", found=SEEN)),  # what the answer is before what was seen
        ("wrong_entity_retrieval", case(found={**SEEN, "region": False})),  # seen before the region
        ("too_broad", case("monkey", found={"region": False})),
    ],
)
def test_of_two_rules_the_earlier_one_decides(expected: str, of: Case) -> None:
    assert label(of) == expected


def test_a_person_who_held_the_answer_for_wrong_ends_the_doubt() -> None:
    assert label(case(outcome="uncertain", audit="wrong")) == "wrong_entity_retrieval"
    assert label(case(outcome="uncertain", audit="unsure")) == "judge_or_label_doubt"


@pytest.mark.skipif(aircraft_types() is None, reason="needs the extra [aircraft]")
def test_a_sibling_by_icao_names_its_source_and_goes_before_what_was_seen() -> None:
    types = aircraft_types()
    word = decide(case("Boeing 737-700", gold=AIRLINER, found=SEEN), [types] if types else [])
    assert isinstance(word, Decision)
    assert (word.label, word.link) == ("neighbour_confusion", "reasoning")
    assert word.source is not None
    assert word.source.startswith("ICAO Doc 8643")


@pytest.mark.parametrize(
    ("why", "of"),
    [
        ("no_hierarchy", case(gold=Gold(answer="tabby"))),
        ("looked_only", case(calls=[("crop", True)])),
        ("may_be_related", case("Boeing 737-700", gold=AIRLINER)),
        ("seen_unknown", case(found={"seen": None})),
        ("picture_unknown", case(calls=[("web", True)], facts={"picture": None})),
        ("no_gold", case(gold=None)),
        ("no_facts", dataclasses.replace(case(), facts=None)),
    ],
)
def test_what_facts_cannot_decide_stays_open_and_says_why(why: str, of: Case) -> None:
    assert decide(of, APES) == Open(why)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sub", "link", "of"),
    [
        ("misjudged", "reasoning", case(found=SEEN)),
        ("not_retrieved", "retrieval", case()),
        (None, "grounding", case(found={"region": False})),
        (None, "retrieval", case("monkey")),  # too broad, and nothing that it found said more
        (None, "reasoning", case("monkey", [("crop", True)])),
        (None, "reasoning", case(None, status="timeout", found=SEEN)),
        (None, None, case(None, [], status="empty")),
        (None, None, case(outcome="uncertain")),
    ],
)
def test_the_link_that_broke_first(sub: str | None, link: str | None, of: Case) -> None:
    word = decide(of, APES)
    assert isinstance(word, Decision)
    assert (word.sub, word.link) == (sub, link)


def test_events_that_gold_found_are_kept_apart() -> None:
    word = decide(case(found=SEEN))
    assert isinstance(word, Decision)
    assert (word.events, word.gold_events) == ((4,), (3,))


def test_failed_calls_and_look_ups_are_cited() -> None:
    failed, vain = decide(case(calls=FAILED)), decide(case(), APES)
    assert isinstance(failed, Decision)
    assert isinstance(vain, Decision)
    assert (failed.events, vain.events) == ((1, 3), (3,))


def test_a_name_with_or_in_it_is_no_choice_where_the_reference_has_one() -> None:
    assert label(case("White or Black", gold=Gold(answer="Black or White"))) is None
