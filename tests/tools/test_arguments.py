"""Arguments as models write them (cases 4-13, 4-14): read when whole, refused when they would be guessed."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.errors import ToolError
from fieldmark.tools.arguments import parsed, readable, repaired


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"x1": 10}', {"x1": 10}),
        ("", {}),
        ({"x1": 10}, {"x1": 10}),
        ('{"text": "Saab \\ud83d 340"}', {"text": "Saab ? 340"}),
    ],
)
def test_json_is_read_as_it_is(written: Any, read: dict[str, Any]) -> None:
    assert parsed(written) == read
    assert not repaired(written)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{'x1': 10, 'y1': 20,}", {"x1": 10, "y1": 20}),
        ("{'text': \"it's the DC-3\", 'confidence': 0.5}", {"text": "it's the DC-3", "confidence": 0.5}),
        ("{'text': 'a {brace} and a [bracket'}", {"text": "a {brace} and a [bracket"}),
        ("{x1: 10, y1: 20}  // left, top", {"x1": 10, "y1": 20}),
        ('{"x1": 10, /* top */ "y1": 20}', {"x1": 10, "y1": 20}),
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ('{"text": "two\nlines"}', {"text": "two\nlines"}),
        ("{'url': 'http://guide.example/a',}", {"url": "http://guide.example/a"}),
        ('```json\n{"x1": 10}\n```', {"x1": 10}),
        ('"{\\"x1\\": 10}"', {"x1": 10}),
    ],
)
def test_4_13_whole_objects_in_python_or_javascript_are_repaired(written: str, read: dict[str, Any]) -> None:
    assert parsed(written) == read
    assert repaired(written)


@pytest.mark.parametrize(
    "written",
    [
        '{"x1": 10, "y1": ',
        "{'x1': 10, 'y1': 20",
        "{'text': 'Saab 34",
        "{}{}",
        "{'x1': 10} and then",
        "x1=10, y1=20",
        "[1, 2]",
        '"text"',
        "None",
        "{'text': 'it's here'}",
        '```json\n{"x1": 10\n```',
        '"{\\"x1\\": 10"',
        "[" * 100_000,
        "{" * 100_000,
        "{" + "a: /* " * 3_000 + "}",
        "{'a': '" + "x" * 100_000 + "'}",
    ],
)
def test_4_14_what_is_cut_off_or_no_object_is_refused(written: str) -> None:
    with pytest.raises(ToolError) as refused:
        parsed(written)
    assert refused.value.kind == "invalid_args"
    assert not readable(written)
    assert not repaired(written)
