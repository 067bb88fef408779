"""Recorded replies are given again: in each format, to whoever asks at their place, and never made up."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.task import Limits
from tests.model_server import Call, Reply
from tests.sandbox.gateway.conftest import Inside
from tests.sandbox.gateway.replay.conftest import Record, Replayed, Talk
from tests.sandbox.gateway.wire.samples import FORMATS, ask, request

USAGE = {"prompt_tokens": 70, "completion_tokens": 9}
REPLIES = [
    Reply("Let me look.", [Call("ocr", '{"mode":"text"}', "c1"), Call("crop_zoom", {}, "c2")], usage=USAGE),
    Reply("A gradient.", reasoning="It is grey.", usage=None),
    Reply("A gradi", finish="length"),
    Reply("never asked for"),
]
FACTS = ("http", "finish", "text", "reasoning", "tool_calls", "tokens", "error", "tries")


def asking(wire: str, times: int, **options: Any) -> Talk:
    async def talk(inside: Inside) -> None:
        for turn in range(times):
            await ask(inside, wire, {**request(wire, **options), "user": f"turn {turn}"})

    return talk


def facts(inside: Inside) -> list[dict[str, Any]]:
    return [{key: row.get(key) for key in FACTS} for row in inside.events("model_response")]


def without_time(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in ("seq", "t")} for row in rows]


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_same_requests_get_the_same_replies(
    record: Record, replayed: Replayed, wire: str, stream: bool
) -> None:
    seen: list[Any] = []
    talk = asking(wire, 3, stream=stream)

    async def watched(inside: Inside) -> None:
        await talk(inside)
        seen.append((facts(inside), without_time(inside.events("model_request"))))

    recording = await record(REPLIES, watched)
    async with replayed(recording, strict=True) as inside:
        await watched(inside)
        assert "drift" not in inside.session.counts
    was, now = seen
    assert now == was
    assert [row["finish"] for row in now[0]] == ["tool_calls", "stop", "length"]


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_is_rendered_in_the_format_that_is_asked_now(
    record: Record, replayed: Replayed, wire: str, stream: bool
) -> None:
    async def recorded_in_chat(inside: Inside) -> None:
        await asking("chat_completions", 2)(inside)
        was.extend(facts(inside))

    was: list[Any] = []
    recording = await record(REPLIES, recorded_in_chat)
    async with replayed(recording) as inside:
        await asking(wire, 2, stream=stream)(inside)
        assert facts(inside) == was


async def test_an_error_that_the_agent_saw_is_seen_again(record: Record, replayed: Replayed) -> None:
    error = {
        "message": "context too long",
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
    }

    async def refused(inside: Inside) -> None:
        with pytest.raises(GatewayRefused) as raised:
            await ask(inside, "chat_completions", request("chat_completions"))
        told.append((raised.value.status, raised.value.kind, str(raised.value)))
        await ask(inside, "chat_completions", request("chat_completions"))

    told: list[Any] = []
    recording = await record([Reply(status=400, error=error), Reply("shorter")], refused)
    async with replayed(recording) as inside:
        await refused(inside)
        assert [row["http"] for row in facts(inside)] == [400, 200]
        assert json.loads(facts(inside)[0]["error"]) == error
    assert told[0] == told[1]


async def test_drift_is_counted_and_the_reply_given_all_the_same(record: Record, replayed: Replayed) -> None:
    recording = await record(REPLIES, asking("chat_completions", 2))
    async with replayed(recording) as inside:
        body = copy.deepcopy(request("chat_completions"))
        await ask(inside, "chat_completions", {**body, "user": "somebody else"})  # a name: masked
        body["messages"][0] = {"role": "system", "content": "Look twice."}
        await ask(inside, "chat_completions", body)
        assert [row["text"] for row in facts(inside)] == ["Let me look.", "A gradient."]
        assert inside.session.counts["drift"] == 1
        [note] = inside.events("log")
    assert note["message"] == "drift: m2 differs from the recorded m2 in messages[0], user"


async def test_a_request_whose_blobs_are_gone_cannot_be_compared(record: Record, replayed: Replayed) -> None:
    recording = await record(REPLIES, asking("chat_completions", 1))
    for blob in recording.blobs.folder.glob("*.txt*"):
        blob.unlink()
    async with replayed(recording) as inside:
        await asking("chat_completions", 1)(inside)
        [note] = inside.events("log")
    assert note["message"] == "drift: m1 cannot be compared with the recorded m1: a blob of it is gone"


async def test_strict_stops_the_run_at_the_first_drift(record: Record, replayed: Replayed) -> None:
    recording = await record(REPLIES, asking("chat_completions", 1))
    async with replayed(recording, strict=True) as inside:
        with pytest.raises(GatewayGone):
            await ask(inside, "chat_completions", {**request("chat_completions"), "top_p": 1})
        outcome = await inside.end()
    assert (outcome.status, outcome.stops_run) == ("sandbox_error", True)
    assert outcome.error is not None
    assert (outcome.error.boundary, outcome.error.kind) == ("model", "drift")
    assert outcome.error.message == (
        "replay of recorded, task 't', agent request 1 (step) differs from the recorded m1 in top_p, user:"
        " run with --no-strict, or record again"
    )


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ("t", "task 't', agent request 2 (step) only 1 are recorded"),
        ("u", "task 'u', agent request 1 (step) none is recorded"),
    ],
)
async def test_what_is_not_recorded_ends_the_episode(
    record: Record, replayed: Replayed, task: str, why: str
) -> None:
    recording = await record(REPLIES, asking("chat_completions", 1))
    async with replayed(recording, task=task) as inside:
        with pytest.raises(GatewayGone):
            await asking("chat_completions", 2)(inside)
        outcome = await inside.end()
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind) == ("sandbox_error", "replay_missing")
    assert outcome.error.message == f"replay of recorded, {why}: record it again with --model scripted"


async def test_a_half_reply_is_not_taken_for_a_whole_one(record: Record, replayed: Replayed) -> None:
    async def cut(inside: Inside) -> None:
        with pytest.raises(GatewayGone):
            await ask(inside, "chat_completions", request("chat_completions", stream=True))

    recording = await record([Reply("half of it and no more", cut=True)], cut)
    async with replayed(recording) as inside:
        await cut(inside)
        outcome = await inside.end()
    assert outcome.error is not None
    assert "its reply is not recorded whole" in outcome.error.message


async def test_a_model_that_hung_hangs_again(record: Record, replayed: Replayed) -> None:
    """The recorded episode ended while the model still had its say; so does the replayed one."""

    async def too_long(inside: Inside) -> None:
        await inside.session.backends.warm()  # its first look at a picture is not what is tried here
        asked = asyncio.ensure_future(ask(inside, "chat_completions", request("chat_completions")))
        assert (await inside.end()).status == "timeout"
        with pytest.raises(GatewayGone):
            await asked

    limits = Limits(seconds=2)  # a third of the hard stop: also where the machine is slow
    recording = await record([Reply(hang=True)], too_long, limits)
    async with replayed(recording, limits=limits) as inside:
        await too_long(inside)


async def test_the_calls_of_plain_text_stay_such(record: Record, replayed: Replayed) -> None:
    patch = {
        "type": "custom_tool_call",
        "call_id": "c9",
        "name": "apply_patch",
        "input": "*** Begin",
        "id": "x",
    }
    whole = {"id": "r", "object": "response", "status": "completed", "output": [patch]}
    body = {"model": "m", "input": "Mend it.", "tools": [{"type": "custom", "name": "apply_patch"}]}
    raw = Reply(raw=[json.dumps(whole).encode()], content_type="application/json")

    async def talk(inside: Inside) -> None:
        said.append((await ask(inside, "responses", body)).json()["output"][0])

    said: list[Any] = []
    recording = await record([raw], talk)
    async with replayed(recording) as inside:
        await talk(inside)
    assert {**said[1], "id": "x", "status": "completed"} == {**patch, "status": "completed"}


async def test_the_eyes_are_apart_from_the_agent(record: Record, replayed: Replayed) -> None:
    async def talk(inside: Inside) -> None:
        question = {"question": "Which colour?", "pictures": [inside.session.prompt.view.blob]}
        for _ in range(2):
            said.append((await inside.post("/eyes", question))["text"])
            await asking("chat_completions", 1)(inside)

    said: list[str] = []
    recording = await record([Reply(text) for text in ("grey", "a", "black", "b")], talk)
    async with replayed(recording, strict=True) as inside:
        await talk(inside)
        assert [row["text"] for row in facts(inside)] == ["grey", "a", "black", "b"]
        assert inside.session.role_tokens["eyes"].input == 200
    assert said == ["grey", "black"] * 2
