"""Answers that are no answer to what was asked."""

from __future__ import annotations

import pytest

from fieldmark.evals.failures.form import fault_of


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ('{"title": "Saab 340"}', "leftovers of a format or of a tool call"),
        ("```json", "leftovers of a format or of a tool call"),
        ("<tool_call>ocr", "leftovers of a format or of a tool call"),
        ("I am unable to identify the aircraft.", "a refusal"),
        ("I can’t see it", "a refusal"),
        ("Unknown", "a refusal"),
        ("无法确定", "a refusal"),
        ("Saab 340 or Saab 2000", "several candidates"),
        ("波音737或空客A320", "several candidates"),
        ("1. Saab 340\n2. Saab 2000", "several candidates"),
        ("Let me search for the registration", "a sentence of a plan"),
        ("我需要先查看图片", "a sentence of a plan"),
        ("The aircraft is:", "a sentence of a plan"),
        ("long " * 101, "longer than 500 characters"),
    ],
)
def test_each_fault_has_its_name(answer: str, what: str) -> None:
    assert fault_of(answer, ["mandrill"]) == what


@pytest.mark.parametrize(
    "answer",
    [
        "Saab 340",
        "The answer is a Saab 340.",
        "Orca",
        "A/V receiver",
        "Ford Anglia (1959)",
        "佛香阁",
        "First Lady's gown",
    ],
)
def test_a_name_is_in_order(answer: str) -> None:
    assert fault_of(answer, ["mandrill"]) is None


def test_what_a_name_of_the_reference_holds_too_is_no_fault() -> None:
    assert fault_of("Let Us B", ["Let Us C"]) is None
