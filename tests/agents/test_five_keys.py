"""A reply to Pix2Fact's prompt becomes an answer: both pairs of keys, and what breaks a naive parser."""

from __future__ import annotations

import pytest

from fieldmark.agents.five_keys import parse_five_keys
from fieldmark.evals.metrics.abstention import abstains
from fieldmark.five_keys import NO_ANSWER

WHOLE = '{"Observation": "a kiosk", "Search Plan": ["a"], "Search Query": ["b"], %s}'


@pytest.mark.parametrize(
    ("raw", "answer", "parsed_by"),
    [
        (WHOLE % '"Comprehensive Answer": "full", "Final Answer": "Orla Venn"', "Orla Venn", "json"),
        (WHOLE % '"Full Answer": "full", "Simple Answer": "Orla Venn"', "Orla Venn", "json"),
        (WHOLE % '"full_answer": "full", "SIMPLE  ANSWER ": "Orla Venn"', "Orla Venn", "json"),
        ("```json\n" + WHOLE % '"Final Answer": "Orla Venn"' + "\n```", "Orla Venn", "json"),
        ("Sure!\n" + WHOLE % '"Final Answer": "Orla Venn"' + "\nIs {that} all?", "Orla Venn", "json"),
        ('{"Observation": "a sign {open}", "Final Answer": "Orla Venn"}', "Orla Venn", "json"),
        ('{"Observation": {"sign": {"text": "open"}}, "Final Answer": "Orla Venn"}', "Orla Venn", "json"),
        ('{"Final Answer": "Orla Venn", "Observation": {"sign": "open"}}', "Orla Venn", "json"),
        ('{"result": {"Final Answer": "Orla Venn"}}', "Orla Venn", "json"),
        ('{"Final Answer": "ATR"}\nI correct it: {"Final Answer": "Orla Venn"}', "Orla Venn", "json"),
        ('<think>{"Final Answer": "ATR"}</think>{"Final Answer": "Orla Venn"}', "Orla Venn", "json"),
        (
            '{"Observation": "It says "open" there", "Final Answer": "Orla Venn"}',
            "Orla Venn",
            "json_repaired",
        ),
        ('{"Observation": "x", "Final Answer": "Orla Venn"', "Orla Venn", "json_repaired"),
        ('{"Final Answer": 1931}', "1931", "json"),
        ("<answer>Orla Venn</answer>", "Orla Venn", "tag"),
        ("Final Answer: Orla Venn", "Orla Venn", "label"),
        ('{"answer": "Orla Venn"}', "Orla Venn", "json"),
        ('{"Observation": "x", "Final Answer": "Orla Ve', "", "truncated"),
        (WHOLE % '"Comprehensive Answer": "full"', "", "json"),
        ("", "", "empty"),
    ],
)
def test_every_way_the_object_is_dressed_up(raw: str, answer: str, parsed_by: str) -> None:
    parsed = parse_five_keys(raw)
    assert (parsed.answer, parsed.parsed_by) == (answer, parsed_by)


def test_the_full_answer_is_the_rationale() -> None:
    said = parse_five_keys('{"Full Answer": "Orla Venn runs it.", "Simple Answer": "Orla Venn"}')
    assert said.rationale == "Orla Venn runs it."


def test_no_definitive_answer_is_an_abstention() -> None:
    parsed = parse_five_keys('{"Comprehensive Answer": "?", "Final Answer": "[NO_DEFINITIVE_ANSWER]"}')
    assert parsed.answer == NO_ANSWER
    assert abstains(parsed.answer)
    assert not abstains("The definitive answer is no")
