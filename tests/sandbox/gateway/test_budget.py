"""What ends an episode that asks its model for too much, and how its agent is told, in every wire format."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fieldmark.prices import Costs, Price
from fieldmark.sandbox.gateway.budget import MAX_IN_VAIN, MAX_REFUSED
from fieldmark.task import Limits
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.wire.samples import FORMATS, ROUTES, ask, raw, request, to
from tests.sandbox.gateway.wire.test_formats import post

each_format = pytest.mark.parametrize("wire", FORMATS)


async def refused(inside: Inside, wire: str, **more: Any) -> Any:
    """The whole HTTP reply to a request that is expected to be refused."""
    return await post(inside.client.path, ROUTES[wire], raw(request(wire, **more)), {})


async def ends_as_budget(inside: Inside, why: str) -> None:
    outcome = await inside.end()
    assert outcome.status == "budget"
    assert [why in row["message"] for row in inside.events("log")] == [True]


@each_format
async def test_calls(enter: Enter, wire: str) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(model_calls=2)) as inside:
            for n in range(2):
                await ask(inside, wire, request(wire, n=n))
            reply = await refused(inside, wire)
            await inside.post("/done", {"error": {"kind": "crash", "message": "gave up"}})
            await ends_as_budget(inside, "the budget of 2 model calls is used up")
        assert len(server.requests) == 2
    error = reply.json()["error"]
    assert (reply.status_code, error["type"]) == (400, "invalid_request_error")
    assert error["message"] == "the budget of 2 model calls is used up"
    assert reply.json().get("type") == ("error" if wire == "messages" else None)
    assert reply.headers["x-should-retry"] == "false"
    assert "context" not in reply.text  # at which OpenCode compacts and asks again, for ever


@each_format
async def test_requests_in_vain(enter: Enter, wire: str) -> None:
    """An agent that shortens a conversation which is too long for the model, and asks again, for ever."""
    too_long = {"message": "the context is 32768 tokens", "type": "invalid_request_error"}
    fits = Reply("thinking")
    replies = [Reply(status=400, error=too_long), fits] + [Reply(status=400, error=too_long)] * 20
    with ModelServer(replies) as server:
        async with enter(to(server)) as inside:
            for n in range(2 + MAX_IN_VAIN):
                await refused(inside, wire, n=n)
            reply = await refused(inside, wire, n="last")
            await inside.post("/done", {"error": {"kind": "crash", "message": "gave up"}})
            await ends_as_budget(inside, f"would not take the last {MAX_IN_VAIN} requests")
        assert len(server.requests) == 2 + MAX_IN_VAIN
    assert "context" not in reply.text


@each_format
async def test_tokens_that_the_model_reports(enter: Enter, wire: str) -> None:
    """110 a call: the third call begins under the budget and ends over it."""
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(tokens=300)) as inside:
            for n in range(3):
                await ask(inside, wire, request(wire, n=n, stream=n == 1))
            assert "330 so far" in (await refused(inside, wire)).text
            await inside.post("/done", {"error": None})
            await ends_as_budget(inside, "the budget of 300 tokens is used up")


async def test_tokens_that_nobody_reports_are_not_counted(enter: Enter) -> None:
    with ModelServer([Reply("thinking", usage=None)]) as server:
        async with enter(to(server), limits=Limits(tokens=1)) as inside:
            for n in range(3):
                await ask(inside, "messages", request("messages", n=n))
            assert inside.session.counts["calls_without_usage"] == 3


@each_format
async def test_the_same_request_again_and_again(enter: Enter, wire: str) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(same_requests=2)) as inside:
            for n in (1, 1, 2, 1, 1):
                await ask(inside, wire, request(wire, n=n))
            assert (await refused(inside, wire, n=1)).status_code == 400
            assert (await refused(inside, wire, n=2)).status_code == 400  # it is over, whatever comes
            await inside.post("/done", {"error": None})
            await ends_as_budget(inside, "the same request came more than 2 times in a row")
        assert len(server.requests) == 5


async def test_tries_of_the_gateway_are_not_the_same_request_again(enter: Enter) -> None:
    busy = Reply(status=503)
    with ModelServer([busy, busy, busy, Reply("ok")]) as server:
        async with enter(to(server), limits=Limits(same_requests=1)) as inside:
            await ask(inside, "responses", request("responses"))
        assert len(server.requests) == 4


async def test_any_number_of_times_where_the_guard_is_off(enter: Enter) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(same_requests=0)) as inside:
            for _ in range(8):
                await ask(inside, "messages", request("messages"))
        assert len(server.requests) == 8


async def test_an_agent_that_goes_on_asking_is_stopped(enter: Enter) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(model_calls=1)) as inside:
            await ask(inside, "messages", request("messages"))
            for n in range(MAX_REFUSED + 1):
                assert (await refused(inside, "messages", n=n)).status_code == 400
            assert (await refused(inside, "messages")).status_code == 410
            await ends_as_budget(inside, "the budget of 1 model calls is used up")
        assert len(server.requests) == 1


async def test_an_answer_given_before_the_budget_was_used_up_counts(enter: Enter) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(model_calls=1)) as inside:
            await inside.post("/events", {"kind": "answer", "text": "a gradient"})
            await ask(inside, "messages", request("messages"))
            await refused(inside, "messages")
            await inside.post("/done", {"error": None})
            outcome = await inside.end()
    assert (outcome.status, outcome.answer.text) == ("answered", "a gradient")


@each_format
async def test_a_call_in_flight_at_the_limit_hears_that_the_episode_is_over(enter: Enter, wire: str) -> None:
    """Case 5-06: a server that accepts and never answers."""
    with ModelServer([Reply(hang=True)]) as server:
        async with enter(to(server), limits=Limits(seconds=2.0)) as inside:
            await inside.session.backends.warm()  # its first look at a picture is not what is tried here
            waiting = asyncio.create_task(refused(inside, wire))
            outcome = await inside.end()
            reply = await waiting
    assert outcome.status == "timeout"
    assert (reply.status_code, reply.json()["error"]["type"]) == (410, "invalid_request_error")


async def test_money_by_the_price_of_the_tokens(enter: Enter) -> None:
    """110 tokens a call: 0.11 USD at 1000 USD a million."""
    price = Price(input=1000.0, output=1000.0)
    with ModelServer([Reply("thinking"), Reply("thinking"), Reply("thinking", usage=None)]) as server:
        async with enter(to(server), limits=Limits(cost=0.2), costs=Costs({"agent": price})) as inside:
            for n in range(2):
                await ask(inside, "messages", request("messages", n=n))
            assert inside.session.cost == 0.22
            assert "0.2 USD is used up: 0.2200 so far" in (await refused(inside, "messages")).text
            await inside.post("/done", {"error": None})
            await ends_as_budget(inside, "the budget of 0.2 USD is used up")
            [end] = inside.events("episode_end")
    assert end["cost"] == 0.22


async def test_a_call_without_usage_makes_the_cost_of_an_episode_unknown(enter: Enter) -> None:
    """Case 5-15."""
    price = Price(input=1000.0, output=1000.0)
    nothing = {"prompt_tokens": None, "completion_tokens": None}
    with ModelServer([Reply("ok"), Reply("ok", usage=nothing)]) as server:
        async with enter(to(server), costs=Costs({"agent": price})) as inside:
            for n in range(2):
                await ask(inside, "chat_completions", request("chat_completions", n=n))
            await inside.post("/done", {"error": None})
            await inside.end()
            [end] = inside.events("episode_end")
    assert (end.get("cost"), end["counts"]["calls_without_usage"]) == (None, 1)
    assert end["tokens"] == {"input": 100, "output": 10}
