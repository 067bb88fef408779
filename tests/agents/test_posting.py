"""The answer event stays below what the gateway takes, whatever the agent says."""

from __future__ import annotations

import json

import pytest

from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.posting import answer_event


def test_an_ordinary_answer_is_whole() -> None:
    answer = AgentAnswer(
        "Saab 340", 0.8, "two engines", [3, "https://example.org"], raw="Answer: Saab 340", parsed_by="label"
    )
    assert answer_event(answer) == {
        "text": "Saab 340",
        "confidence": 0.8,
        "rationale": "two engines",
        "evidence": [3, "https://example.org"],
        "raw": "Answer: Saab 340",
        "parsed_by": "label",
    }


@pytest.mark.parametrize("letter", ["x", "庆", "😀", "\n", "\x00", '"', "\ud800"])
def test_a_huge_one_fits_one_event(letter: str) -> None:
    huge = letter * 200_000
    event = answer_event(AgentAnswer(huge, rationale=huge, evidence=[huge] * 1000, raw=huge))
    assert len(json.dumps({"kind": "answer", **event})) < 64_000
    assert event["text"]
    assert huge.startswith(event["text"])


def test_text_goes_before_raw() -> None:
    event = answer_event(AgentAnswer("x" * 50_000, rationale="y" * 9_000, raw="z" * 50_000))
    assert len(event["text"]) == 50_000
    assert len(event["rationale"]) == 8_000
    assert 0 < len(event["raw"]) <= 5_000
