"""JSON objects in a model's text: every way models are known to break them, and nothing executed."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.tools.model_text import FoundObject, objects_in, without_fence, without_thinking

V: dict[str, Any] = {"verdict": "correct", "score": 1.0}
SPELT = '{"verdict": "correct", "score": 1.0}'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SPELT, [FoundObject(V)]),
        (f"```json\n{SPELT}\n```", [FoundObject(V)]),
        (f"Here it is:\n\n~~~JSON\n{SPELT}\n~~~\nAnything else?", [FoundObject(V)]),
        (f"{SPELT} then {SPELT}", [FoundObject(V), FoundObject(V)]),
        (f"[{SPELT}, {SPELT}]", [FoundObject(V), FoundObject(V)]),
        (f'{{"outer": {SPELT}}}', [FoundObject({"outer": V})]),
        ('{"a": "\\$5 \\(so\\)"}', [FoundObject({"a": "\\$5 \\(so\\)"}, repaired=True)]),
        ('{"a": "one\ntwo\tthree"}', [FoundObject({"a": "one\ntwo\tthree"}, repaired=True)]),
        ("{'a': \"it's\", 'b': True,}", [FoundObject({"a": "it's", "b": True}, repaired=True)]),
        ('{a: "b"} // done', [FoundObject({"a": "b"}, repaired=True)]),
        ('{"a": "b", "reason": "the', [FoundObject({"a": "b", "reason": "the"}, repaired=True, cut=True)]),
        (f"{{'a': 1,}} and {SPELT}", [FoundObject({"a": 1}, repaired=True), FoundObject(V)]),
        (r"the set {x} and \boxed{Saab 340}", []),
        ("This is incorrect.", []),
        ("", []),
    ],
)
def test_objects(text: str, found: list[FoundObject]) -> None:
    assert objects_in(text) == found


def test_nothing_is_executed() -> None:
    [found] = objects_in("{'verdict': 'correct' if __import__('os').getpid() else 'incorrect'}")
    assert found.value["verdict"] not in ("correct", "incorrect")


@pytest.mark.parametrize("text", ["{" * 5000, '{"a": ' * 3000, "{'a'" * 2000, '{"a": [' * 1500 + "]}" * 9])
def test_garbage_costs_little(text: str) -> None:
    objects_in(text)


def test_thinking_and_fences() -> None:
    assert without_thinking(f"I thought {SPELT} but no.</think>\n{SPELT}") == SPELT
    assert without_thinking("<think>on and on") == ""
    assert without_fence("```\nSaab 340\n```") == "Saab 340"
