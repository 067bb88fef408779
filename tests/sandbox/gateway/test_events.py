"""What a sandbox may write into a trace, and what is refused."""

from __future__ import annotations

import hashlib

import pytest

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.task import Limits
from tests.sandbox.gateway.conftest import Enter


async def test_claims_are_stamped_by_the_gateway_whatever_the_sender_says(enter: Enter) -> None:
    async with enter() as inside:
        await inside.post("/events", {"kind": "log", "message": "hello", "seq": 99, "t": -5, "by": "gateway"})
        [event] = inside.events()
    assert (event["seq"], event["by"], event["message"]) == (0, "sandbox", "hello")
    assert event["t"] >= 0


@pytest.mark.parametrize(
    "kind", ["model_response", "model_request", "egress", "episode_end", "memory_write", "no"]
)
async def test_a_forged_event_is_refused_and_the_attempt_is_logged(enter: Enter, kind: str) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.post(
                "/events", {"kind": kind, "call": "m1", "http": 200, "seconds": 0.1, "text": "gold"}
            )
        events = inside.events()
    assert refused.value.status == 403
    assert [event["kind"] for event in events] == ["log"]
    assert kind in events[0]["message"]
    assert events[0]["by"] == "gateway"


async def test_a_list_with_one_forged_event_writes_none_of_it(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused):
            await inside.post("/events", [{"kind": "log", "message": "fine"}, {"kind": "episode_start"}])
        assert all("fine" not in event["message"] for event in inside.events())


async def test_a_malformed_event_is_named(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match=r"tool_result\.ok: Field required"):
            await inside.post("/events", {"kind": "tool_result", "call": "1", "seconds": 0.1})


async def test_an_event_over_64_kb_and_the_5001st_are_refused(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.post("/events", {"kind": "log", "message": "x" * 65_000})
        assert refused.value.status == 413
        for _ in range(10):
            await inside.post("/events", [{"kind": "log", "message": "x"}] * 500)
        with pytest.raises(GatewayRefused) as refused:
            await inside.post("/events", {"kind": "log", "message": "one more"})
        assert refused.value.status == 413
        warnings = [event for event in inside.events("log") if event["by"] == "gateway"]
    assert len(warnings) == 1


async def test_the_hash_of_a_blob_is_the_gateways_own(enter: Enter) -> None:
    async with enter() as inside:
        reply = await inside.ask("PUT", "/blobs", b"bytes", content_type="image/png")
    assert reply.json()["blob"] == hashlib.sha256(b"bytes").hexdigest()


async def test_the_last_answer_counts(enter: Enter) -> None:
    async with enter() as inside:
        await inside.post("/events", {"kind": "answer", "text": "first"})
        await inside.post("/events", {"kind": "answer", "text": "second", "confidence": 0.5})
        await inside.post("/done", {"error": None})
        outcome = await inside.end()
    assert (outcome.status, outcome.answer.text) == ("answered", "second")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (None, "empty"),
        ({"kind": "empty", "message": "no text"}, "empty"),
        ({"kind": "crash", "message": "ValueError"}, "agent_error"),
        ({"kind": "max_turns", "message": "12 turns"}, "budget"),
    ],
)
async def test_ending_without_an_answer(enter: Enter, error: object, status: str) -> None:
    async with enter() as inside:
        await inside.post("/done", {"error": error})
        assert (await inside.end()).status == status


async def test_at_the_time_limit_everything_answers_410(enter: Enter) -> None:
    async with enter(limits=Limits(seconds=0.3)) as inside:
        outcome = await inside.end()
        for method, route in (("GET", "/image"), ("POST", "/events"), ("POST", "/v1/chat/completions")):
            with pytest.raises(GatewayGone):
                await inside.ask(method, route, {})
        [end] = inside.events("episode_end")
    assert outcome.status == "timeout"
    assert 0.3 <= end["charged_seconds"] < 1.5


async def test_the_picture_and_a_region_of_the_original(enter: Enter) -> None:
    async with enter() as inside:
        view = await inside.ask("GET", "/image")
        cut = await inside.ask("GET", "/image/region?box=10,20,110,70&scale=2")
        with pytest.raises(GatewayRefused) as refused:
            await inside.ask("GET", "/image/region?box=nan,0,1,1")
    assert view.headers["content-type"] == "image/png"
    assert '"box":[10.0,20.0,110.0,70.0]' in cut.headers["x-picture"]
    assert '"width":200,"height":100' in cut.headers["x-picture"]
    assert refused.value.kind == "invalid_args"


@pytest.mark.parametrize("claimed", [-5, True, 10**400])
async def test_a_count_of_its_own_calls_that_cannot_be_is_not_taken(enter: Enter, claimed: int) -> None:
    async with enter() as inside:
        body = {"kind": "log", "message": "ended", "native": {"tool_calls": claimed}}
        await inside.post("/events", body)
        assert "native_tool_calls" not in inside.session.counts
