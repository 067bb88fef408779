"""A fork: the recording as far as its event, one thing changed there, then a real server is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.forking.asked import Asked
from fieldmark.forking.place import find
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.replay.fork import Fork, ForkUpstream
from fieldmark.sandbox.gateway.upstream import HttpUpstream, Upstream
from fieldmark.sandbox.gateway.wire.formats import format_named
from tests.model_server import Call, ModelServer, Reply
from tests.sandbox.gateway.conftest import Inside, entered
from tests.sandbox.gateway.replay.conftest import Record, Talk
from tests.sandbox.gateway.wire.samples import ask, request, to, uri

REPLIES = [
    Reply("Let me look.", [Call("ocr", '{"mode": "text"}', "c1")]),
    Reply("A gradient."),
    Reply("It is grey."),
]
BEGIN = {"chat_completions": 2, "responses": 1, "messages": 1}
"""Items of a sample before the model has called its tool."""
OTHER = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x40\x08\x02\0\0\0 another one"


def talking(wire: str) -> Talk:
    """Three requests: the question, the result of the call `c1`, one more question."""

    async def talk(inside: Inside) -> None:
        items = format_named(wire).ITEMS
        whole = request(wire)
        for said in (whole[items][: BEGIN[wire]], whole[items], [*whole[items], *more()]):
            await ask(inside, wire, {**whole, items: said})

    return talk


def more() -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": "A gradient."}, {"role": "user", "content": "And?"}]


def place(tmp_path: Path, seq: int, asked: Asked) -> tuple[Fork, str]:
    run = RunDir.open(tmp_path / "recorded")
    jsonl.write_all(run.tasks_file, [{"id": "t"}])
    return find(run, "t", 0, seq, asked)


@asynccontextmanager
async def forked(tmp_path: Path, fork: Fork, live: Upstream | None) -> AsyncIterator[Inside]:
    upstream = ForkUpstream(fork, live).for_episode("t", 0)
    (tmp_path / "forked").mkdir()
    async with entered(tmp_path / "forked", upstream) as inside:
        yield inside


def seq_of(tmp_path: Path, kind: str) -> int:
    """The number of the first event of a kind in the recorded trace."""
    rows = jsonl.read(tmp_path / "recorded" / "traces" / "t.jsonl").rows
    return next(int(row["seq"]) for row in rows if row["kind"] == kind)


async def test_the_model_is_told_another_result(record: Record, tmp_path: Path) -> None:
    wire = "messages"
    await record(REPLIES, talking(wire))
    fork, told = place(tmp_path, seq_of(tmp_path, "tool_result"), Asked("result", "no text"))
    assert told == "what ocr (m1) brought"
    with ModelServer([Reply("live")]) as server:
        async with forked(tmp_path, fork, to(server)) as inside:
            await talking(wire)(inside)
            first, *later = inside.events("model_request")
            texts = [row["text"] for row in inside.events("model_response")]
            [result] = inside.events("tool_result")
    assert texts == ["Let me look.", "live", "live"]
    sent = [json.dumps(body[format_named(wire).ITEMS]) for body in server.requests]
    assert [("N8710M" in text, "no text" in text) for text in sent] == [(False, True)] * 2
    assert result["text"] == "N8710M"  # what the call really brought
    assert "forked" not in first
    assert [row["forked"] for row in later] == [{"change": "result", "call": "c1"}] * 2


async def test_a_picture_is_put_into_every_later_request(record: Record, tmp_path: Path) -> None:
    wire = "responses"
    await record(REPLIES, talking(wire))
    asked = Asked("picture", "other.png", OTHER, "image/png")
    fork, _ = place(tmp_path, seq_of(tmp_path, "tool_result"), asked)
    with ModelServer([Reply("live")]) as server:
        async with forked(tmp_path, fork, to(server)) as inside:
            await talking(wire)(inside)
            requests = inside.events("model_request")
    blob = hashlib.sha256(OTHER).hexdigest()
    assert [blob in [p["blob"] for p in row["pictures"]] for row in requests] == [False, True, True]
    for body in server.requests:
        last = body[format_named(wire).ITEMS][-1]
        assert last["content"][-1] == {"type": "input_image", "image_url": uri(OTHER)}


async def test_a_call_gets_other_arguments(record: Record, tmp_path: Path) -> None:
    wire = "chat_completions"
    await record(REPLIES, talking(wire))
    fork, told = place(tmp_path, seq_of(tmp_path, "tool_call"), Asked("arguments", '{"mode": "all"}'))
    assert told == "the arguments of ocr (m1)"
    with ModelServer([Reply("live")]) as server:
        async with forked(tmp_path, fork, to(server)) as inside:
            await talking(wire)(inside)
            first, *later = inside.events("model_response")
    [call] = first["tool_calls"]
    assert (call["id"], json.loads(call["arguments"])) == ("c1", {"mode": "all"})
    assert json.loads(first["forked"].pop("was")) == {"mode": "text"}
    assert first["forked"] == {"change": "arguments", "call": "c1"}
    assert [row["text"] for row in later] == ["live", "live"]


async def test_another_model_goes_on_under_its_own_name(record: Record, tmp_path: Path) -> None:
    await record(REPLIES, talking("chat_completions"))
    fork, _ = place(tmp_path, seq_of(tmp_path, "model_response"), Asked("reply", "I cannot see."))
    with ModelServer([Reply("live")]) as server:
        async with forked(tmp_path, fork, HttpUpstream("other", server.url)) as inside:
            await talking("chat_completions")(inside)
            rows = inside.events("model_request")
            assert inside.events("model_response")[0]["text"] == "I cannot see."
            assert "drift" not in inside.session.counts
    assert [row["model"] for row in rows] == ["scripted", "other", "other"]
    assert [body["model"] for body in server.requests] == ["other", "other"]


async def test_the_recording_can_go_on_without_a_server(record: Record, tmp_path: Path) -> None:
    await record(REPLIES, talking("chat_completions"))
    fork, _ = place(tmp_path, seq_of(tmp_path, "tool_result"), Asked("result", "no text"))
    async with forked(tmp_path, fork, None) as inside:
        await talking("chat_completions")(inside)
        assert [row["text"] for row in inside.events("model_response")] == [r.text for r in REPLIES]
        assert "drift" not in inside.session.counts  # it is another request by what was changed


async def test_what_cannot_be_changed_there_is_refused(record: Record, tmp_path: Path) -> None:
    await record(REPLIES, talking("chat_completions"))
    for kind, asked, why in (
        ("model_request", Asked("arguments", "{}"), "is a model_request: --arguments is for a tool_call or"),
        ("tool_call", Asked("result", "x"), "is a tool_call: --result is for a tool_result"),
        ("tool_call", Asked("reply", "x"), "is a tool_call: --reply is for a model_response"),
    ):
        with pytest.raises(UsageError, match=why):
            place(tmp_path, seq_of(tmp_path, kind), asked)


async def test_what_is_not_recorded_is_refused(record: Record, tmp_path: Path) -> None:
    await record(REPLIES, talking("chat_completions"))
    with pytest.raises(UsageError, match="no event 99: those of this episode are 0 to 7"):
        place(tmp_path, 99, Asked("reply", "x"))
    run = RunDir.open(tmp_path / "recorded")
    with pytest.raises(UsageError, match=r"no task 'u' in .*: its ids are t"):
        find(run, "u", 0, 1, Asked("reply", "x"))
    with pytest.raises(UsageError, match="no finished episode of task 't' in epoch 3: name --epoch 0"):
        find(run, "t", 3, 1, Asked("reply", "x"))
    for blob in run.blobs.glob("*.txt*"):
        blob.unlink()
    with pytest.raises(UsageError, match=r"recorded/blobs lacks what event \d+ needs: restore the folder"):
        place(tmp_path, seq_of(tmp_path, "tool_result"), Asked("result", "x"))
