"""What changed in a request since the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.evals.inspector.changes import changes, request_before
from fieldmark.rundir import RunDir
from fieldmark.trace import ModelRequest
from tests.evals.inspector.test_app import WRONG


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    (tmp_path / "blobs").mkdir()
    return BlobStore(tmp_path / "blobs")


def request(blobs: BlobStore, seq: int, *said: str, **fields: Any) -> ModelRequest:
    """`said`: "role: text" of each message."""
    told = (dict(zip(("role", "content"), each.split(": "), strict=True)) for each in said)
    stored = [blobs.put_text(json.dumps(each)) for each in told]
    return ModelRequest.model_validate({
        "seq": seq, "t": seq, "by": "gateway", "call": f"q{seq}", "wire": "chat_completions", "model": "m",
        "asked": {}, "sent": {}, "tools": ["ocr"], "messages": stored, "pictures": [], "thread": "t1",
        **fields,
    })  # fmt: skip


def told(blobs: BlobStore, one: ModelRequest, other: ModelRequest) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.what, each.was, each.now) for each in changes(one, other, blobs)]


def picture(blob: str) -> dict[str, Any]:
    return {"blob": blob, "media_type": "image/png", "width": 8, "height": 8}


def test_a_conversation_that_goes_on_has_more_messages(blobs: BlobStore) -> None:
    one = request(blobs, 1, "user: What?")
    two = request(blobs, 2, "user: What?", "assistant: I look", "tool: a tail")
    assert told(blobs, one, two) == [
        ("added", "message 2, assistant", "", "I look"),
        ("added", "message 3, tool", "", "a tail"),
    ]
    assert told(blobs, two, two) == []


def test_a_compacted_history_is_cut_and_altered(blobs: BlobStore) -> None:
    one = request(blobs, 1, "user: What?", "assistant: I look", "tool: a long result", "assistant: so")
    two = request(blobs, 2, "user: What?", "tool: (short)", "assistant: so")
    assert told(blobs, one, two) == [
        ("cut", "former message 2, assistant", "I look", ""),
        ("cut", "former message 3, tool", "a long result", ""),
        ("added", "message 2, tool", "", "(short)"),
    ]
    three = request(blobs, 3, "user: What?", "assistant: I look", "tool: (short)", "assistant: so")
    assert told(blobs, one, three) == [("altered", "message 3, tool", "a long result", "(short)")]


def test_a_moved_cache_mark_says_nothing(blobs: BlobStore) -> None:
    one, two = request(blobs, 1, "user: What?"), request(blobs, 2)
    part = {"type": "text", "text": "What?", "cache_control": {"type": "ephemeral"}}
    two.messages.append(blobs.put_text(json.dumps({"role": "user", "content": [part]})))
    assert told(blobs, one, two) == [("altered", "message 1, user: only what is not said", "", "")]


def test_pictures_tools_system_and_settings(blobs: BlobStore) -> None:
    old, new = (blobs.put_text(json.dumps(text)) for text in ("You look.", "You search."))
    one = request(
        blobs, 1, pictures=[picture("a"), picture("a"), picture("b")], system=old, tools_blob="x",
        asked={"temperature": 0, "seed": 1},
    )  # fmt: skip
    two = request(
        blobs, 2, pictures=[picture("a"), picture("c")], system=new, tools=["ocr", "recall"],
        asked={"temperature": 1},
    )  # fmt: skip
    found = changes(one, two, blobs)
    assert [(each.kind, each.what, each.picture and each.picture.blob) for each in found] == [
        ("altered", "system prompt", None), ("cut", "picture", "a"), ("cut", "picture", "b"),
        ("added", "picture", "c"), ("added", "tool recall", None), ("altered", "setting temperature", None),
        ("cut", "setting seed", None),
    ]  # fmt: skip
    assert (found[0].was, found[0].now) == ("You look.", "You search.")
    redefined = request(blobs, 3, tools_blob="y")
    assert [each.what for each in changes(request(blobs, 2, tools_blob="x"), redefined, blobs)] == [
        "definitions or order of the tools"
    ]


def test_what_the_server_keeps_is_not_cut(blobs: BlobStore) -> None:
    one = request(blobs, 1, "user: What?", pictures=[picture("a")])
    two = request(blobs, 2, "tool: a tail", partial=True)
    assert told(blobs, one, two) == [("added", "message 1, tool", "", "a tail")]


def test_only_a_request_of_the_same_conversation_and_role_is_before(blobs: BlobStore) -> None:
    one, sub = request(blobs, 1), request(blobs, 2, thread="t2")
    eyes, two = request(blobs, 3, role="eyes"), request(blobs, 4)
    events = [one, sub, eyes, two]
    assert request_before(reversed(events), two) is one
    assert [request_before(reversed(events), each) for each in (one, sub, eyes)] == [None, None, None]


def test_the_page_of_a_request_lists_it(client: TestClient, aircraft: RunDir) -> None:
    assert "It is the first of its conversation" in client.get(f"{WRONG}/event/0").text
    path = aircraft.traces / aircraft.episodes()[0].trace
    rows = jsonl.read(path).rows
    asked = next(row for row in rows if row["seq"] == 3)
    rows.append({**asked, "seq": 90, "t": 90.0, "call": "q9", "messages": ["gone"], "pictures": []})
    rows.append({**rows[-1], "seq": 91, "call": "q10"})
    jsonl.write_all(path, rows)
    page = client.get(f"{WRONG}/event/90").text
    assert "Against <a" in page
    assert "A picture that was cut" in page
    assert "(blob gone is not there or cannot be read)" in page
    assert "the same request again" in client.get(f"{WRONG}/event/91").text
