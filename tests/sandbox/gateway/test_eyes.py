"""POST /eyes: what the vision model is sent, what is recorded and bounded, and whose fault a failure is."""

from __future__ import annotations

import asyncio
import base64
import io
from typing import Any

import pytest
from PIL import Image
from tenacity import wait_none

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway import session as session_module
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.task import Limits
from fieldmark.tools.inside import GatewayContext
from fieldmark.trace import Picture
from tests.model_server import Call, ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside


def to(server: ModelServer) -> HttpUpstream:
    return HttpUpstream("seer", server.url, "EYES_KEY", back_off=wait_none())


def view(inside: Inside) -> str:
    return inside.session.prompt.view.blob


async def ask(inside: Inside, question: str = "What is it?", pictures: Any = None) -> Any:
    shown = [view(inside)] if pictures is None else pictures
    return await inside.post("/eyes", {"question": question, "pictures": shown})


def shown_sizes(request: dict[str, Any]) -> list[tuple[int, int]]:
    """The sizes of the pictures in a request that the server got."""
    uris = [part["image_url"]["url"] for part in request["messages"][1]["content"] if "image_url" in part]
    pictures = [base64.b64decode(uri.partition(",")[2]) for uri in uris]
    return [Image.open(io.BytesIO(data)).size for data in pictures]


async def test_the_question_and_the_pictures_reach_the_vision_model(enter: Enter) -> None:
    with ModelServer([Reply("A grey gradient.")]) as server:
        async with enter(eyes=to(server)) as inside:
            cut = (await inside.ask("GET", "/image/region?box=0,0,100,50")).headers["x-picture"]
            blob = Picture.model_validate_json(cut).blob
            said = await ask(inside, "Which is darker?", [view(inside), blob])
    assert said == {"text": "A grey gradient.", "model": "seer"}
    [request] = server.requests
    system, user = request["messages"]
    assert (request["model"], system["role"]) == ("seer", "system")
    assert [part.get("text") for part in user["content"]] == [
        "Picture 1:", None, "Picture 2:", None, "Which is darker?"
    ]  # fmt: skip
    assert shown_sizes(request) == [(320, 200), (100, 50)]
    assert "tools" not in request


async def test_its_calls_are_recorded_with_their_role_and_counted_apart(enter: Enter) -> None:
    reply = Reply("Grey.", [Call("ocr")])
    with ModelServer([reply]) as server:
        async with enter(eyes=to(server)) as inside:
            await ask(inside)
            inside.session.finish()
            await inside.end()
            [request], [response] = inside.events("model_request"), inside.events("model_response")
            [end] = inside.events("episode_end")
            trace = inside.trace.read_text()
    assert (request["role"], request["call"], request["model"], response["call"]) == (
        "eyes",
        "eyes1",
        "seer",
        "eyes1",
    )
    assert [picture["blob"] for picture in request["pictures"]] == [view(inside)]
    assert "base64" not in trace
    assert end["counts"] | {"model_calls": 0, "acts": 0, "eyes_calls": 1} == end["counts"]
    assert "tokens" not in end
    assert end["role_tokens"] == {"eyes": {"input": 100, "output": 10}}


async def test_its_questions_have_a_bound_of_their_own(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server), Limits(model_calls=1), eyes=to(server)) as inside:
            for _ in range(session_module.EYES_CALLS):
                await ask(inside)
            with pytest.raises(GatewayRefused) as refused:
                await ask(inside)
            await inside.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "?"}]})
    assert (refused.value.status, refused.value.kind) == (429, "unavailable")
    assert len(server.requests) == session_module.EYES_CALLS + 1


async def test_a_server_that_comes_back_is_asked_again(enter: Enter) -> None:
    with ModelServer([Reply(status=503, delay=0.4), Reply("Grey.")]) as server:
        async with enter(eyes=to(server)) as inside:
            assert (await ask(inside))["text"] == "Grey."
            [response] = inside.events("model_response")
            waited = inside.session.clock.waited
    assert (response["tries"], response["http"]) == (2, 200)
    assert waited >= 0.4


async def test_a_server_that_stays_down_is_the_models_fault(enter: Enter) -> None:
    with ModelServer([Reply(status=503)]) as server:
        seer = HttpUpstream("seer", f"{server.url}?key=SECRET", back_off=wait_none())
        async with enter(eyes=seer) as inside:
            with pytest.raises(GatewayGone):
                await ask(inside)
            outcome = await inside.end()
            assert "SECRET" not in inside.trace.read_text()
    assert outcome.status == "sandbox_error"
    assert outcome.error is not None
    assert (outcome.error.boundary, outcome.error.kind) == ("model", "unreachable")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(status=400, error={"message": "image too large"}), "image too large"),
        (Reply(""), "its reply is empty"),
        (Reply("", finish="length"), "cut off at its limit"),
    ],
)
async def test_what_it_will_not_answer_is_told_and_the_episode_goes_on(
    enter: Enter, reply: Reply, reason: str
) -> None:
    with ModelServer([reply, Reply("Grey.")]) as server:
        async with enter(eyes=to(server)) as inside:
            prompt = inside.session.prompt
            context = GatewayContext(inside.client, prompt.image, prompt.view)
            with pytest.raises(ToolError, match=reason) as failed:
                await look(context)
            assert (await look(context))["text"] == "Grey."
    assert failed.value.kind == "runtime"


async def look(context: GatewayContext) -> Any:
    """The blocking call of a tool, off the event loop."""
    return await asyncio.to_thread(context.eyes, "What is it?", [context.view])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([], 400),
        ({"question": "?"}, 400),
        ({"question": "?", "pictures": []}, 400),
        ({"question": " ", "pictures": ["view"]}, 400),
        ({"question": "?" * 5000, "pictures": ["view"]}, 400),
        ({"question": "?", "pictures": ["view"] * 9}, 400),
        ({"question": "?", "pictures": ["0" * 64]}, 404),
        ({"question": "?", "pictures": ["../../etc/passwd"]}, 404),
        ({"question": "?", "pictures": [{"blob": 1}]}, 404),
    ],
)
async def test_an_odd_request_is_refused_and_costs_nothing(enter: Enter, body: Any, status: int) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(eyes=to(server)) as inside:
            if isinstance(body, dict) and "view" in body.get("pictures", []):
                body = {**body, "pictures": [view(inside) for _ in body["pictures"]]}
            with pytest.raises(GatewayRefused) as refused:
                await inside.post("/eyes", body)
            assert "eyes_calls" not in inside.session.counts
    assert refused.value.status == status
    assert server.requests == []


async def test_a_run_without_a_vision_model_says_so(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match="no vision model") as refused:
            await ask(inside)
    assert refused.value.kind == "unavailable"
