"""An agent of others that has two models: its calls go to the one they name, and each has its own bound."""

from __future__ import annotations

from typing import Any

import pytest
from tenacity import wait_none

from fieldmark.client import GatewayRefused
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.task import Limits
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside


def to(server: ModelServer, name: str) -> HttpUpstream:
    return HttpUpstream(name, server.url, "TEST_KEY", back_off=wait_none())


async def ask(inside: Inside, model: str) -> Any:
    body = {"model": model, "messages": [{"role": "user", "content": "?"}]}
    reply = await inside.post("/v1/chat/completions", body)
    return reply["choices"][0]["message"]["content"]


async def test_a_call_goes_to_the_model_that_it_names(enter: Enter) -> None:
    with ModelServer([Reply("I think.")]) as server, ModelServer([Reply("I see.")]) as eyes_server:
        async with enter(to(server, "thinker"), eyes=to(eyes_server, "seer")) as inside:
            said = [await ask(inside, model) for model in ("scripted", "seer", "some-other")]
            inside.session.finish()
            await inside.end()
            requests, [end] = inside.events("model_request"), inside.events("episode_end")
    assert said == ["I think.", "I see.", "I think."]
    assert [request["model"] for request in server.requests] == ["thinker", "thinker"]
    assert [request["model"] for request in eyes_server.requests] == ["seer"]
    assert [(request["call"], request["role"]) for request in requests] == [
        ("m1", "agent"), ("eyes1", "eyes"), ("m2", "agent"),
    ]  # fmt: skip
    assert end["counts"] | {"model_calls": 2, "eyes_calls": 1} == end["counts"]
    assert set(end["role_tokens"]) == {"eyes"}
    assert inside.session.last_text == "I think."


async def test_both_models_are_listed(enter: Enter) -> None:
    with ModelServer([Reply()]) as server:
        async with enter(to(server, "thinker"), eyes=to(server, "seer")) as inside:
            listed = (await inside.ask("GET", "/v1/models")).json()
            one = (await inside.ask("GET", "/v1/models/seer")).json()
            with pytest.raises(GatewayRefused, match="no model 'x': this run has 'scripted' and 'seer'"):
                await inside.ask("GET", "/v1/models/x")
    assert [model["id"] for model in listed["data"]] == ["scripted", "seer"]
    assert one["id"] == "seer"


async def test_calls_to_the_eyes_have_a_bound_of_their_own(enter: Enter) -> None:
    """Shared with the questions of the tool `inspect_image`; none of the agent's own calls is used up."""
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server, "thinker"), Limits(model_calls=1), eyes=to(server, "seer")) as inside:
            inside.session.eyes_left = 2
            question = {"question": "?", "pictures": [inside.session.prompt.view.blob]}
            await inside.post("/eyes", question)
            await ask(inside, "seer")
            with pytest.raises(GatewayRefused) as refused:
                await ask(inside, "seer")
            assert await ask(inside, "scripted") == "ok"
    assert (refused.value.status, refused.value.kind) == (400, "budget_exhausted")
    assert len(server.requests) == 3


async def test_without_eyes_every_name_means_the_model_of_the_run(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server, "thinker")) as inside:
            assert await ask(inside, "seer") == "ok"
            assert [request["role"] for request in inside.events("model_request")] == ["agent"]
