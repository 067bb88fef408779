"""The official `openai` SDK as a client of the gateway, with a model server and with `builtin/scout`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeVar

import httpx2
import openai
import pytest

from fieldmark.agents.relay import start_relay
from fieldmark.task import Limits
from tests.model_server import Call, ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.wire.samples import SCHEMA, to

FUNCTION = {"name": "ocr", "parameters": SCHEMA}
T = TypeVar("T")


async def with_sdk(inside: Inside, job: Callable[[openai.OpenAI], T]) -> T:
    """Run a job with a client of the gateway's socket, off the event loop."""

    def work() -> T:
        transport = httpx2.HTTPTransport(uds=inside.client.path)
        with httpx2.Client(transport=transport) as http:
            return job(openai.OpenAI(base_url="http://gateway/v1", api_key="ex-0001", http_client=http))

    return await asyncio.to_thread(work)


def chat(client: openai.OpenAI, **options: Any) -> Any:
    asked: Any = {"messages": [{"role": "user", "content": "What is this?"}], "model": "scripted", **options}
    return client.chat.completions.create(**asked)


def respond(client: openai.OpenAI, **options: Any) -> Any:
    asked: Any = {"input": "What is this?", "model": "scripted", **options}
    return client.responses.create(**asked)


async def test_chat_completions_whole_and_streamed(enter: Enter) -> None:
    with ModelServer([Reply("A grey gradient.", [Call("ocr", {"mode": "text"})])]) as server:
        async with enter(to(server)) as inside:
            whole = await with_sdk(inside, lambda client: chat(client).choices[0].message)
            parts = await with_sdk(inside, lambda client: [*chat(client, stream=True)])
    assert (whole.content, whole.tool_calls[0].function.name) == ("A grey gradient.", "ocr")
    said = [part.choices[0].delta.content or "" for part in parts if part.choices]
    assert "".join(said) == "A grey gradient."


async def test_responses_whole_and_streamed(enter: Enter) -> None:
    with ModelServer([Reply("A grey gradient.", [Call("ocr", {"mode": "text"})])]) as server:
        async with enter(to(server)) as inside:
            whole = await with_sdk(inside, respond)
            events = await with_sdk(inside, lambda client: [*respond(client, stream=True)])
    assert whole.output_text == "A grey gradient."
    assert whole.output[1].name == "ocr"
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == "A grey gradient."


@pytest.mark.parametrize("text", ["Final answer: 庆典 花", "☕" * 40])
async def test_a_stream_of_single_bytes_gives_the_same_text(enter: Enter, text: str) -> None:
    """Case 4-23: borders inside a character and inside the arguments of a call."""
    delta = {
        "content": text,
        "tool_calls": [{"index": 0, "id": "c", "function": {"name": "ocr", "arguments": text}}],
    }
    rows: list[Any] = [{"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": "stop"}]
    events = [json.dumps({"choices": [{"index": 0, **row}]}, ensure_ascii=False) for row in rows]
    stream = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()
    with ModelServer([Reply(raw=[stream[at : at + 1] for at in range(len(stream))])]) as server:
        async with enter(to(server)) as inside:
            parts = await with_sdk(inside, lambda client: [*chat(client, stream=True)])
            [response] = await inside.written("model_response")
    assert "".join(part.choices[0].delta.content or "" for part in parts) == text
    assert (response["text"], response["tool_calls"][0]["arguments"]) == (text, text)


async def test_through_the_relay_that_agents_are_given(enter: Enter, unused_tcp_port: int) -> None:
    with ModelServer([Reply("A grey gradient.")]) as server:
        async with enter(to(server)) as inside:
            port = await asyncio.to_thread(start_relay, inside.client.path, unused_tcp_port)
            client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="ex-0001")
            async with client:
                reply = await client.responses.create(model="scripted", input="What is this?")
                assert [model.id async for model in client.models.list()] == ["scripted"]
                assert (await client.models.retrieve("scripted")).id == "scripted"
                with pytest.raises(openai.NotFoundError, match="no model 'gpt-5': this run has 'scripted'"):
                    await client.models.retrieve("gpt-5")
    assert reply.output_text == "A grey gradient."


@pytest.mark.parametrize("stream", [False, True])
async def test_scout_plans_a_call_in_chat_completions(enter: Enter, stream: bool) -> None:
    tools = [{"type": "function", "function": FUNCTION}]

    def job(client: openai.OpenAI) -> Any:
        if not stream:
            return chat(client, tools=tools).choices[0].message.tool_calls[0].function
        return next(iter(chat(client, tools=tools, stream=True))).choices[0].delta.tool_calls[0].function

    async with enter() as inside:
        asked = await with_sdk(inside, job)
    assert (asked.name, asked.arguments) == ("ocr", '{"mode":"registration"}')


@pytest.mark.parametrize("stream", [False, True])
async def test_scout_plans_a_call_in_responses(enter: Enter, stream: bool) -> None:
    tools = [{"type": "function", **FUNCTION}]

    def job(client: openai.OpenAI) -> Any:
        if not stream:
            return respond(client, tools=tools)
        with client.responses.stream(input="What is this?", model="scripted", tools=tools) as events:  # type: ignore[arg-type]
            return events.get_final_response()

    async with enter() as inside:
        [item] = (await with_sdk(inside, job)).output
        [response] = await inside.written("model_response")
    assert (item.type, item.name, item.arguments) == ("function_call", "ocr", '{"mode":"registration"}')
    assert response["tool_calls"] == [
        {"id": item.call_id, "name": "ocr", "arguments": '{"mode":"registration"}'}
    ]


@pytest.mark.parametrize("ask", [chat, respond])
async def test_the_sdk_asks_once_after_the_budget_is_used_up(enter: Enter, ask: Any) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(model_calls=1)) as inside:
            await with_sdk(inside, ask)
            with pytest.raises(openai.BadRequestError, match="budget of 1 model calls is used up") as refused:
                await with_sdk(inside, ask)
    assert (refused.value.code, refused.value.type) == ("budget_exhausted", "invalid_request_error")
    assert inside.session.budget.refused == 1


@pytest.mark.parametrize("ask", [chat, respond])
async def test_the_sdk_asks_once_after_the_episode_is_over(enter: Enter, ask: Any) -> None:
    async with enter() as inside:
        inside.session.finish()
        with pytest.raises(openai.APIStatusError, match="this episode is over") as gone:
            await with_sdk(inside, ask)
    assert gone.value.status_code == 410
    assert gone.value.response.headers["x-should-retry"] == "false"
