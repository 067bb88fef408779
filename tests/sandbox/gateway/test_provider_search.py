"""Closed book with the search of the model's own provider: through our gateway, and told in the trace."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fieldmark.agents.base import AgentAnswer, AgentStopped
from fieldmark.agents.registry import get_agent
from fieldmark.trace import ModelResponse, parse_event
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.wire.samples import to

OBJECT = {"Observation": "a kiosk", "Comprehensive Answer": "It is Orla Venn.", "Final Answer": "Orla Venn"}


def searched(text: str, **more: Any) -> Reply:
    """A reply of a server that has searched: the shape that Responses documents."""
    output = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed",
         "action": {"type": "search", "query": "kiosk by the gate"}},
        {"type": "web_search_call", "id": "ws_2", "status": "completed",
         "action": {"type": "open_page", "url": "https://kiosks.example/orla"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
    ]  # fmt: skip
    body = {"id": "r", "object": "response", "status": "completed", "output": output, **more}
    return Reply(raw=[json.dumps(body).encode()], content_type="application/json")


async def answer(inside: Inside, agent: str) -> AgentAnswer:
    prompt = inside.session.prompt.model_copy(update={"reply": "pix2fact"})
    return await asyncio.to_thread(get_agent(agent).solve, prompt, inside.client, [])


async def test_responses_with_web_search(enter: Enter) -> None:
    with ModelServer([searched(json.dumps(OBJECT))]) as server:
        force = {"temperature": 0, "max_tokens": 8192, "max_output_tokens": 16000}
        async with enter(to(server, force=force)) as inside:
            said = await answer(inside, "closed_book_search")
            [request], [response] = inside.events("model_request"), inside.events("model_response")
            counts = dict(inside.session.counts)
    [body] = server.requests
    assert server.paths == ["/v1/responses"]
    assert body["tools"] == [{"type": "web_search"}]
    assert (body["temperature"], body["max_output_tokens"]) == (0, 16000)
    assert [part["type"] for part in body["input"][0]["content"]] == ["input_image", "input_text"]
    assert '"Final Answer"' in body["instructions"]
    assert (said.text, said.rationale) == ("Orla Venn", "It is Orla Venn.")
    assert (request["provider_search"], request["task_picture"]["delivered"]) == (["web_search"], "exact")
    assert response["provider_calls"] == [
        {"kind": "search", "query": "kiosk by the gate"},
        {"kind": "open_page", "query": "https://kiosks.example/orla"},
    ]
    assert (counts["acts"], counts["provider_search_offers"], counts["provider_searches"]) == (0, 1, 2)
    event = parse_event(response)
    assert isinstance(event, ModelResponse)
    assert event.tool_calls == []


async def test_chat_completions_with_google_search(enter: Enter) -> None:
    with ModelServer([Reply(json.dumps(OBJECT))]) as server:
        async with enter(to(server)) as inside:
            said = await answer(inside, "closed_book_google")
            [request] = inside.events("model_request")
    [body] = server.requests
    assert server.paths == ["/v1/chat/completions"]
    assert body["tools"] == [{"type": "google_search"}]
    assert said.text == "Orla Venn"
    assert (request["tools"], request["provider_search"]) == (["google_search"], ["google_search"])


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=400, error={"message": "no such tool"}), "model_refused"),
        (searched("", status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "truncated"),
    ],
)
async def test_how_it_ends_without_an_answer(enter: Enter, reply: Reply, kind: str) -> None:
    with ModelServer([reply]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(AgentStopped) as caught:
                await answer(inside, "closed_book_search")
    assert caught.value.kind == kind


async def test_closed_book_alone_lets_nobody_search(enter: Enter) -> None:
    with ModelServer([Reply("x")]) as server:
        async with enter(to(server)) as inside:
            await answer(inside, "closed_book")
            [request] = inside.events("model_request")
    assert "tools" not in server.requests[0]
    assert "provider_search" not in request
