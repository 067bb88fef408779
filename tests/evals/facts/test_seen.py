"""Gold counts as seen only where a tool told it to an agent that had not said it."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.evals.facts.found import gold_facts_of
from fieldmark.findings import GoldFacts
from fieldmark.task import Gold
from tests.evals.facts.traces import Trace

SAAB = Gold(answer="Saab 340", aliases=["SF340", "萨博340"])


def found(trace: Trace, gold: Gold = SAAB, question: str = "Which type is this?") -> GoldFacts:
    return gold_facts_of(trace.record, trace.events, gold, question)


@pytest.mark.parametrize(
    "text",
    [
        "1. A SAAB 340 at Zürich",
        "1. A Saab‑340 lands",  # a dash of another kind
        "ＳＡＡＢ　３４０",
        "see https://planes.example/saab%20340",
        '{"title": "\\u8428\\u535a340飞机"}',
        "这是一架萨博340飞机",
        "the <b>Saab</b> 340",
        "Saab&nbsp;340",
    ],
)
def test_a_name_in_a_result_is_seen_however_it_is_written(text: str) -> None:
    facts = found(Trace().call("web_search", {"query": "twin turboprop"}, text).answer("ATR 42"))
    assert (facts.seen, facts.seen_event, facts.seen_action) == (True, 4, "web_search")


@pytest.mark.parametrize("text", ["Saab 3400", "Saab 34", "Saabs, 340 of them", "", "萨博"])
def test_half_a_name_is_none(text: str) -> None:
    assert found(Trace().call("web_search", {"query": "plane"}, text).answer("ATR 42")).seen is False


def test_names_in_the_data_of_a_result_count_and_are_not_joined_across_its_texts() -> None:
    hits = {"hits": [{"title": "Saab"}, {"title": "340 photos"}]}
    assert found(Trace().call("web_search", {"query": "x"}, "", hits).answer("?")).seen is False
    hits = {"hits": [{"title": "A Saab 340"}]}
    assert found(Trace().call("web_search", {"query": "x"}, "", hits).answer("?")).seen is True


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("web_search", {"query": "Saab 340"}, "1. Saab 340 - Wikipedia"),
        ("web_search", {"query": "340 by Saab"}, "Nothing was found for 340 by Saab. Saab 340?"),
        ("web_search", {"query": "萨博340"}, "The Saab 340 is an aircraft"),
        ("bash", {"command": "echo 'Saab 340'"}, "Saab 340"),
        ("bash", "echo Saab 340", "Saab 340"),
        ("open_page", {"url": "https://x.example/Saab_340"}, "Error (not_found): https://x.example/Saab_340"),
        ("inspect_image", {"question": "Is this a Saab 340?"}, "Yes, a Saab 340."),
    ],
)
def test_what_the_call_itself_named_is_not_seen(tool: str, arguments: Any, text: str) -> None:
    assert found(Trace().call(tool, arguments, text).answer("Saab 340")).seen is False


def test_a_look_up_that_brings_a_named_answer_back_confirms_it() -> None:
    hits = {"hits": [{"title": "Saab 340 - Wikipedia"}]}
    asked = {"query": "Saab 340"}
    facts = found(Trace().call("web_search", asked, "1. Saab 340 - Wikipedia", hits).answer("Saab 340"))
    assert (facts.seen, facts.confirmed_event) == (False, 4)
    nothings: list[dict[str, Any]] = [{"found": False}, {"hits": []}]
    for data in nothings:
        nothing = Trace().call("web_search", asked, 'No results for "Saab 340"', data).answer("Saab 340")
        assert found(nothing).confirmed_event is None


def test_what_was_written_to_a_file_or_a_page_is_read_back_not_seen() -> None:
    file = (
        Trace().call("bash", {"command": "echo Saab 340 > notes"}).call("read", {"path": "notes"}, "Saab 340")
    )
    assert found(file.answer("Saab 340")).seen is False
    page = Trace().call("browser", {"action": "type", "text": "Saab 340"})
    page.call("browser", {"action": "read"}, 'search = "Saab 340"')
    assert found(page.answer("Saab 340")).seen is False
    apart = (
        Trace()
        .call("bash", {"command": "echo Saab 340 > notes"})
        .call("reverse_image_search", {}, "Saab 340")
    )
    assert found(apart.answer("Saab 340")).seen is True


def test_a_shell_that_runs_a_tool_is_judged_by_what_it_was_asked() -> None:
    command = {"command": "fieldmark tool reverse_image_search"}
    facts = found(Trace().call("bash", command, "1. Saab 340", native=True).answer("Saab 340"))
    assert (facts.seen, facts.seen_action) == (True, "code_or_shell")


def test_only_what_came_before_the_reply_with_the_answer_counts() -> None:
    late = Trace().answer("Saab 340").call("web_search", {"query": "x"}, "Saab 340")
    assert found(late).seen is False
    beside = Trace().reply(calls=[{"id": "a", "name": "answer", "arguments": "{}"}])
    beside.add("sandbox", "tool_call", call="s", name="web_search", door="graph", action="web_search")
    beside.add("sandbox", "tool_result", call="s", ok=True, seconds=0.1, text="Saab 340")
    beside.add("sandbox", "answer", text="Saab 340")
    assert found(beside).seen is False
    never = Trace().call("web_search", {"query": "x"}, "Saab 340")  # a time-out: no answer at all
    assert found(never).seen is True


def test_memory_and_results_without_a_call_are_no_results() -> None:
    assert found(Trace().call("recall", {"query": "x"}, "Saab 340").answer("Saab 340")).seen is False
    lone = Trace().add("sandbox", "tool_result", call="?", ok=True, seconds=0.1, text="Saab 340")
    assert found(lone.answer("Saab 340")).seen is False


def test_what_stands_in_the_question_is_not_looked_for() -> None:
    trace = Trace().call("web_search", {"query": "x"}, "Saab 340 and SF340").answer("Saab 340")
    assert found(trace, question="Is it a Saab 340 or an ATR 42?").seen is True  # by its alias
    assert found(trace, Gold(answer="Saab 340"), "Is it a Saab 340 or an ATR 42?").seen is None


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        ("42", "Page 1 of 42: shown characters 1-42", False),
        ("42", "read:\n42\n", True),
        ("1984", "born in 1984", False),
        ("900.550.93", "IKEA 900.550.93, 2 pieces", True),
        ("X5", "the X5 series", False),
        ("X5", "x5.", True),
        ("鹤", "一只仙鹤", False),
        ("鹤", "鹤", True),
        ("仙鹤", "一只仙鹤站着", True),
        ("☂", "C# or ☂ here", False),
        ("☂", "☂", True),
    ],
)
def test_short_names_and_numbers_must_stand_alone(name: str, text: str, seen: bool) -> None:
    trace = Trace().call("ocr", {"box": [4, 2, 42, 1984]}, text).answer("?")
    assert found(trace, Gold(answer=name)).seen is seen
