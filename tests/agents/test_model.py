"""ChatModel and Reply: oddities of servers, and what each error becomes."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.agents.base import AgentStopped
from fieldmark.agents.messages import system, text_part, user
from fieldmark.agents.model import BudgetExhausted, ChatModel, ModelRefused, ModelUnavailable
from fieldmark.agents.pictures import CACHE_BYTES, Pictures
from fieldmark.agents.reply import read_reply
from fieldmark.client import GatewayClient, GatewayGone
from tests.agents.conftest import OpenGateway
from tests.agents.scripted_gateway import ORIGINAL, picture, says


def message(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": fields, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("http", "code", "error"),
    [
        (400, "budget_exhausted", BudgetExhausted),
        (400, "unsupported_value", ModelRefused),
        (401, None, ModelRefused),
        (502, "upstream", ModelUnavailable),
        (410, "gone", GatewayGone),
    ],
)
def test_errors(open_gateway: OpenGateway, http: int, code: str | None, error: type[Exception]) -> None:
    gateway = open_gateway({"http": http, "error": {"message": "no", "code": code}})
    with pytest.raises(error):
        ChatModel(GatewayClient(gateway.path), gateway.prompt).chat([system("hello")])
    assert len(gateway.requests) == 1


def test_errors_are_told_apart_by_kind(open_gateway: OpenGateway) -> None:
    gateway = open_gateway({"http": 404, "error": {"message": "no such model", "code": None}})
    with pytest.raises(AgentStopped, match="HTTP 404 error: no such model") as caught:
        ChatModel(GatewayClient(gateway.path), gateway.prompt).chat([system("hello")])
    assert caught.value.kind == "model_refused"


def test_a_request_is_plain(open_gateway: OpenGateway) -> None:
    gateway = open_gateway(says("hi"))
    reply = ChatModel(GatewayClient(gateway.path), gateway.prompt).chat([user(text_part("hello"))])
    assert reply.text == "hi"
    assert gateway.requests == [
        {"model": "scripted", "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
    ]


def test_ids_that_are_missing_or_repeated() -> None:
    rows = [{"id": given, "function": {"name": "ocr", "arguments": None}} for given in (None, "a", "a", "")]
    reply = read_reply(message(content=None, tool_calls=rows), "call_3")
    assert [call.id for call in reply.tool_calls] == ["call_3_0", "a", "call_3_2", "call_3_3"]


def test_arguments_sent_as_an_object() -> None:
    rows = [{"id": "a", "function": {"name": "ocr", "arguments": {"lang": "中"}}}]
    assert read_reply(message(tool_calls=rows), "c").tool_calls[0].arguments == '{"lang":"中"}'


def test_content_in_parts_and_reasoning_apart() -> None:
    parts = [{"type": "text", "text": "Saab "}, {"type": "text", "text": "340"}]
    reply = read_reply(message(content=parts, reasoning_content="hm"), "c")
    assert (reply.text, reply.reasoning, reply.tool_calls) == ("Saab 340", "hm", [])


@pytest.mark.parametrize(
    "raw", [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}, {"choices": ["?"]}]
)
def test_replies_with_nothing_in_them(raw: dict[str, Any]) -> None:
    reply = read_reply(raw, "c")
    assert (reply.text, reply.tool_calls) == ("", [])


def test_the_cache_is_bounded(open_gateway: OpenGateway) -> None:
    gateway = open_gateway(says("hi"))
    pictures = Pictures(GatewayClient(gateway.path), gateway.prompt)
    view, cut = gateway.prompt.view.model_dump(), picture(ORIGINAL, 50, 50).model_dump()
    for _ in range(2):
        pictures.data_uri(view)
        pictures.data_uri(cut)
    assert [route.partition("?")[0] for route in gateway.routes] == ["GET /image", "GET /image/region"]
    pictures.remember("big", bytes(CACHE_BYTES))
    pictures.data_uri(view)  # the client has it
    pictures.data_uri(cut)
    assert [route.partition("?")[0] for route in gateway.routes[2:]] == ["GET /image/region"]
