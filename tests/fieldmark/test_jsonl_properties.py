"""Lines on disk, for any rows and any place where a kill cut the file."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.trace import parse_event

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ROWS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=6)


def written(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(jsonl.encode(row) for row in rows)


def read(data: bytes) -> tuple[Path, jsonl.Lines]:
    path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    path.write_bytes(data)
    return path, jsonl.read(path)


@given(ROWS)
def test_what_is_written_is_read(rows: list[dict[str, Any]]) -> None:
    _, lines = read(written(rows))
    assert json.dumps(lines.rows) == json.dumps(json.loads(json.dumps(rows)))
    assert (lines.bad, lines.torn) == ([], False)


@given(ROWS, st.data())
def test_a_cut_anywhere_loses_no_whole_line_and_the_next_row_is_whole(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = written(rows)
    kept = whole[: data.draw(st.integers(0, len(whole)))]
    path, lines = read(kept)
    complete = kept.count(b"\n")
    assert lines.rows[:complete] == [json.loads(line) for line in kept.split(b"\n")[:complete]]
    assert len(lines.rows) - complete in (0, 1)  # a whole object may lack its newline alone
    jsonl.append(path, {"after": 1}, durable=False)
    again = jsonl.read(path)
    assert again.rows == [*lines.rows, {"after": 1}]
    assert not again.torn
    assert len(again.bad) == int(lines.torn)


@given(st.binary(max_size=300))
def test_no_bytes_are_too_bad_to_be_read(data: bytes) -> None:
    _, lines = read(data)
    assert lines.good_bytes <= len(data)
    assert lines.bad == sorted(set(lines.bad))
    assert all(isinstance(row, dict) for row in lines.rows)


@given(st.floats(), st.text(st.characters()))
def test_numbers_that_are_none_and_half_characters_are_written_as_what_json_has(
    number: float, text: str
) -> None:
    [row] = read(jsonl.encode({"number": number, "text": text}))[1].rows
    assert row["number"] is None or row["number"] == number
    assert row["text"] == text.encode("utf-8", "replace").decode()


@given(
    st.sampled_from(["tool_call", "model_response", "from_the_future"]), st.dictionaries(st.text(), VALUES)
)
def test_an_event_of_any_make_is_read_or_refused(kind: str, more: dict[str, Any]) -> None:
    row = {**more, "seq": 1, "t": 0.5, "by": "gateway", "kind": kind}
    with contextlib.suppress(ValidationError):  # fields of other types
        event = parse_event(row)
        assert (event.kind, event.seq) == (kind, 1)
