"""A model's text becomes an answer: every way models are known to dress it up."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.agents.parsing import Parsed, confidence, parse_answer


@pytest.mark.parametrize(
    ("raw", "answer", "parsed_by"),
    [
        ('{"answer": "Saab 340", "confidence": 0.9}', "Saab 340", "json"),
        ('```json\n{"answer": "Saab 340"}\n```', "Saab 340", "json"),
        ('Here it is:\n\n~~~JSON\n{"answer": "Saab 340"}\n~~~\nAnything else?', "Saab 340", "json"),
        ('{"answer": "ATR 42"}\nOn reflection:\n{"answer": "Saab 340"}', "Saab 340", "json"),
        ('{"answer": "Saab 340"}\nFormat: {"answer": ""}', "Saab 340", "json"),
        ('{"result": {"answer": "Saab 340"}}', "Saab 340", "json"),
        ('{"Answer": ["Saab 340", "SF340"]}', "Saab 340, SF340", "json"),
        ('{"answer": 340}', "340", "json"),
        ('{"answer": "line one\nline two\tend"}', "line one\nline two\tend", "json"),
        ('{"answer": "about \\$5"}', "about \\$5", "json_repaired"),
        ("{'answer': \"it's the DC-3\",}", "it's the DC-3", "json_repaired"),
        ('{answer: "Saab 340", confidence: 0.5} // final', "Saab 340", "json_repaired"),
        ("I saw {marks} and {'answer': 'Saab 340',} is it", "Saab 340", "json_repaired"),
        ('{"answer": "Saab 340", "rationale": "the two eng', "Saab 340", "json_repaired"),
        ('{"answer": "Boeing 73', "", "truncated"),
        ("{'answer': 'Boeing 73", "", "truncated"),
        ('I thought {"answer": "ATR"} but no.</think>{"answer": "Saab 340"}', "Saab 340", "json"),
        ('<think>{"answer": "ATR 42"}</think>\nFinal answer: Saab 340', "Saab 340", "label"),
        ('<think>I could call <tool_call>{"name": "b"}</tool_call></think>Saab 340', "Saab 340", "text"),
        ("<think>it goes on and on", "", "empty"),
        ("◁think▷Answer: ATR 42◁/think▷Saab 340", "Saab 340", "text"),
        ('<tool_call>\n{"name": "ocr", "arguments": {}}\n</tool_call>', "", "empty"),
        ('I look closer. <tool_call>{"name": "ocr"}</tool_call>\nAnswer: Saab 340', "Saab 340", "label"),
        ('<tool_call>{"name": "answer", "arguments": {"answer": "ATR', "", "empty"),
        ('{"name": "ocr", "arguments": {"mode": "text"}}', "", "empty"),
        ('```json\n{"name": "answer", "parameters": {"text": "ATR"}}\n```', "", "empty"),
        ('[TOOL_CALLS][{"name": "ocr", "arguments": {}}]', "", "empty"),
        ("<function=ocr><parameter=mode>text</parameter></function>", "", "empty"),
        ("<answer>ATR</answer> no: <answer> Saab 340 </answer>", "Saab 340", "tag"),
        ('<answer>{"answer": "Saab 340"}</answer>', "Saab 340", "json"),
        (r"So the aircraft is \boxed{Saab 340}.", "Saab 340", "boxed"),
        (r"\boxed{ATR 42}, no: $\boxed{\text{Saab 340}}$", "Saab 340", "boxed"),
        (r"Answer: \boxed{Saab {340}}", "Saab {340}", "boxed"),
        (r"<answer>\boxed{Saab 340}</answer>", "Saab 340", "boxed"),
        (r'\boxed{?} {"answer": "Saab 340"}', "Saab 340", "json"),
        (r"\boxed{Saab", "", "boxed"),
        ("**Final Answer:** Saab 340\n**Confidence:** 90 %", "Saab 340", "label"),
        ("Answer:\n\nSaab 340", "Saab 340", "label"),
        ("最终答案：庆典花", "庆典花", "label"),
        ("```\nSaab 340\n```", "Saab 340", "text"),
        ("It is a Saab 340.", "It is a Saab 340.", "text"),
        ("", "", "empty"),
        (" \n ", "", "empty"),
        ('{"answer": null}', "", "json"),
        ('{"answer": {"x": 1}}', "", "json"),
        ('{"answer": true}', "", "json"),
    ],
)
def test_answers(raw: str, answer: str, parsed_by: str) -> None:
    parsed = parse_answer(raw)
    assert (parsed.answer, parsed.parsed_by) == (answer, parsed_by)


@pytest.mark.parametrize(
    "raw", ["Final answer: Boe", "<answer>Boe", "It could be a", '{"answer": "Boe', r"\boxed{Bo"]
)
def test_what_the_token_limit_cut_is_no_answer(raw: str) -> None:
    assert parse_answer(raw, truncated=True) == Parsed("", parsed_by="truncated")


def test_a_value_that_was_complete_before_the_cut_counts() -> None:
    parsed = parse_answer('{"answer": "Saab 340", "rationale": "the', truncated=True)
    assert (parsed.answer, parsed.rationale) == ("Saab 340", "the")


def test_nothing_is_executed() -> None:
    assert "getpid" not in parse_answer("{'answer': 'a', 'confidence': __import__('os').getpid()}").answer


@pytest.mark.parametrize("raw", ["{" * 100_000, '{"a":' * 50_000, "[" * 100_000, '{"answer":' * 20_000])
@pytest.mark.timeout(10)
def test_garbage_is_bounded(raw: str) -> None:
    parse_answer(raw)


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.85, 0.85),
        (85, 0.85),
        ("85%", 0.85),
        (" 85 % ", 0.85),
        ("８５％", 0.85),
        ("0.85", 0.85),
        ("1%", 0.01),
        (100, 1.0),
        (101, None),
        (-0.1, None),
        (1.5, None),
        ("high", None),
        ("8/10", None),
        (True, None),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
    ],
)
def test_confidence(value: Any, fraction: float | None) -> None:
    assert confidence(value) == fraction
