"""What can be read of a model's hypotheses and verdicts, in the shapes that models write them."""

from __future__ import annotations

import pytest

from fieldmark.agents.foraging.ledger import Evidence, Hypothesis, Ledger
from fieldmark.agents.foraging.reading import read_thoughts, read_verdict
from fieldmark.agents.reply import Reply

LEDGER = Ledger(evidence=(Evidence("E1", "ocr", "{}", 3), Evidence("E2", "web_search", "{}", 5)))


def reply(text: str, finish: str = "stop") -> Reply:
    return Reply(text, "", [], finish, {})


WHOLE = '{"hypotheses": [{"name": "Saab 340", "confidence": 0.8, "evidence": ["E1"]}]}'


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"<think>{{}} perhaps a DC-3</think>I looked closely.\n{WHOLE}\nThat is all.",
        f'As you asked: {{"name": "…"}} is the form.\n{WHOLE}',
        "{'hypotheses': [{'name': 'Saab 340', 'confidence': '80%', 'evidence': 'see [E1]',}],} // done",
        '{"Hypotheses": {"Saab 340": {"confidence": 80, "for": ["the tail [E1], unlike E2"]}}}',
        '{"candidates": [{"hypothesis": "Saab 340", "confidence": 0.8, "cites": [{"id": "e1"}]}]',
        '[{"name": "Saab 340", "confidence": 0.8, "evidence": ["E1", "E77"]}]',
        '[{"name": "Saab 340", "confidence": 0.8, "cites": "E1"}, {"level": "nothing else"}]',
    ],
)
def test_hypotheses_in_many_shapes(text: str) -> None:
    thoughts = read_thoughts(reply(text), LEDGER)
    assert thoughts
    [found] = thoughts.hypotheses
    assert (found.name, found.confidence, found.cites) == ("Saab 340", 0.8, ("E1",))


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("It looks like a Saab 340.", "stop"),
        ("", "stop"),
        ('{"answer": "Saab 340"}', "stop"),
        ('{"hypotheses": "none"}', "stop"),
        ('{"hypotheses": [{"level": "variant"}, 7, null]}', "stop"),
        ('{"hypotheses": [{"name": "Saab 3', "length"),
        ("{" * 5_000, "stop"),
    ],
)
def test_no_hypotheses_are_invented(text: str, finish: str) -> None:
    found = read_thoughts(reply(text, finish), LEDGER)
    assert found is None or found.hypotheses[0].name == "7"


@pytest.mark.parametrize(
    ("word", "ruling"),
    [
        ("exact", "exact"), ("Exact", "exact"), (" supported ", "exact"), ("refuted", "refuted"),
        ("contradicted", "refuted"), ("unsure", "unsure"), ("not exact", "unsure"),
        ("exact or unsure", "unsure"),
    ],
)  # fmt: skip
def test_a_verdict_is_exact_only_when_it_says_so(word: str, ruling: str) -> None:
    verdict = read_verdict(reply(f'{{"verdict": "{word}", "cites": ["E2"]}}'), LEDGER, Hypothesis("Saab 340"))
    assert verdict
    assert (verdict.ruling, verdict.cites, verdict.known) == (ruling, ("E2",), 2)


def test_no_verdict_in_prose_or_in_an_answer() -> None:
    assert read_verdict(reply("It is exact."), LEDGER, Hypothesis("Saab 340")) is None
    assert read_verdict(reply('{"answer": "Saab 340"}'), LEDGER, Hypothesis("Saab 340")) is None
