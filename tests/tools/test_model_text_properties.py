"""What a model writes, for any text: nothing breaks the reader, and what is whole is found."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fieldmark.agents.parsing import parse_answer
from fieldmark.errors import ToolError
from fieldmark.tools.arguments import parsed
from fieldmark.tools.model_text import objects_in, whole_objects

TAGS = ["<think>", "</think>", "<answer>", "</answer>", "<tool_call>", "```json", "```", "boxed{", "Answer: "]
JSON = [
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ":",
    ",",
    "\\",
    '"answer"',
    "NaN",
    "true",
    "1e999",
    "\n",
    "\ud800",
    "\x00",
]
PIECES = st.sampled_from([*TAGS, *JSON])
TEXT = st.lists(PIECES | st.text(max_size=6), max_size=25).map("".join)
FLAT = st.dictionaries(st.text(max_size=6), st.text(max_size=9) | st.integers() | st.booleans(), min_size=1)
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="{}`<\\\"'"), max_size=30)


@given(TEXT, st.booleans())
def test_any_text_is_an_answer_or_none(text: str, truncated: bool) -> None:
    found = parse_answer(text, truncated=truncated)
    assert found.confidence is None or 0 <= found.confidence <= 1
    assert found.answer == found.answer.strip()


@given(TEXT)
def test_any_text_holds_objects_or_none(text: str) -> None:
    assert all(isinstance(found.value, dict) for found in objects_in(text))
    assert all(isinstance(value, dict) for value in whole_objects(text))


@given(st.lists(FLAT, min_size=1, max_size=4), PROSE)
def test_whole_objects_are_found_in_order_whatever_prose_is_between(
    objects: list[dict[str, Any]], prose: str
) -> None:
    text = prose + prose.join(json.dumps(value) for value in objects) + prose
    assert list(whole_objects(text)) == objects


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=20))
def test_an_answer_in_json_is_read_as_it_stands(answer: str) -> None:
    reply = "Looking closely.\n" + json.dumps({"answer": answer, "confidence": 0.5})
    assert parse_answer(reply).answer == answer


@given(TEXT)
def test_arguments_are_an_object_or_a_clear_refusal(text: str) -> None:
    with contextlib.suppress(ToolError):
        assert isinstance(parsed(text), dict)
