"""A request that was taken apart for the trace is rebuilt to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fieldmark.sandbox.gateway.wire import responses
from fieldmark.sandbox.gateway.wire.requests import changed, rebuild
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter
from tests.sandbox.gateway.wire.samples import (
    FORMATS,
    PNG,
    ask,
    raw,
    recorded,
    request,
    source,
    to,
    uri,
)


async def traced(enter: Enter, wire: str, body: bytes) -> tuple[Any, bytes]:
    """What a request leaves in a trace, and what is rebuilt from that."""
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await ask(inside, wire, body)
            event = recorded(inside)
            assert "base64" not in inside.trace.read_text()
        assert json.loads(server.raw[0]) == json.loads(body)
    return event, rebuild(event, inside.blobs)


@pytest.mark.parametrize("wire", FORMATS)
async def test_a_compact_request_needs_nothing_but_its_parts(enter: Enter, wire: str) -> None:
    body = raw(request(wire, temperature=0.5, tool_choice=None))
    event, rebuilt = await traced(enter, wire, body)
    assert rebuilt == body
    assert (event.raw, event.whole, len(event.pictures)) == (None, None, 2)


@pytest.mark.parametrize("wire", FORMATS)
async def test_another_spelling_is_kept_without_its_pictures(enter: Enter, wire: str) -> None:
    body = json.dumps(request(wire), indent=2).encode()
    event, rebuilt = await traced(enter, wire, body)
    assert rebuilt == body
    assert (event.raw is None, event.whole) == (False, None)


@pytest.mark.parametrize("wire", FORMATS)
async def test_escaped_pictures_are_seen_and_the_request_is_kept_whole(enter: Enter, wire: str) -> None:
    """`\\/` as PHP writes it, `\\u002B` as .NET does."""
    body = json.dumps(request(wire)).replace("/", "\\/").replace("+", "\\u002B").encode()
    event, rebuilt = await traced(enter, wire, body)
    assert rebuilt == body
    assert len(event.pictures) == 2
    assert event.pictures[0].width == 320


@pytest.mark.parametrize(
    ("wire", "fields"),
    [
        ("chat_completions", {"messages": []}),
        ("chat_completions", {"messages": ["odd"]}),
        ("chat_completions", {"messages": [{"role": "user", "content": f"an inline ![]({uri(PNG)})"}]}),
        ("chat_completions", {"messages": [{"role": "user", "content": "blob:" + "0" * 64}]}),
        ("chat_completions", {"messages": [{"content": [{"url": uri(PNG)}] * 3}], "tools": None}),
        ("chat_completions", {"messages": [{"data": uri(PNG)}, {"url": "data:image/png;base64,@@@"}]}),
        ("chat_completions", {"messages": [{"url": "data:image/png;base64,iVBORw0KGgo"}]}),
        ("chat_completions", {"messages": [{"a": uri(PNG)}, {"b": uri(PNG).replace("png", "webp")}]}),
        ("responses", {"input": "What is this?"}),
        ("responses", {"input": ["What is this?"]}),
        ("responses", {"input": uri(PNG)}),
        ("responses", {"previous_response_id": "resp_1"}),
        ("messages", {"system": "Look.", "messages": [], "max_tokens": 1}),
        ("messages", {"messages": [{"content": [{"source": {**source(PNG), "type": "other"}}]}]}),
        ("messages", {"messages": [{"content": [{"source": {"data": "AAAA", "type": "base64"}}]}]}),
        ("messages", {"messages": [{"text": '{"data":"AAAA","type":"base64","media_type":"image/png"}'}]}),
    ],
)
async def test_odd_requests_are_rebuilt_too(enter: Enter, wire: str, fields: dict[str, Any]) -> None:
    body = raw({"model": "scripted", **fields})
    assert (await traced(enter, wire, body))[1] == body


async def test_only_whole_strings_are_pictures(enter: Enter) -> None:
    """What stands inside a text, or inside the JSON of a text, no model sees as a picture."""
    texts = [f"see {uri(PNG)}", json.dumps({"url": uri(PNG)}), json.dumps(source(PNG))]
    body = {"model": "scripted", "messages": [{"role": "user", "content": text} for text in texts]}
    event, _ = await traced(enter, "chat_completions", raw(body))
    assert event.pictures == []


async def test_the_same_picture_under_two_types_keeps_both(enter: Enter) -> None:
    webp = uri(PNG).replace("png", "webp")
    body = {"model": "scripted", "messages": [{"a": uri(PNG), "b": webp}]}
    event, _ = await traced(enter, "chat_completions", raw(body))
    assert [picture.media_type for picture in event.pictures] == ["image/png", "image/webp"]


async def test_a_conversation_that_the_server_keeps_is_marked_as_partial(enter: Enter) -> None:
    body = {"model": "scripted", "previous_response_id": "resp_1", "store": True, "input": "And this?"}
    event, _ = await traced(enter, "responses", raw(body))
    assert event.partial
    assert (event.asked["previous_response_id"], event.asked["store"]) == ("resp_1", True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{"a":1,"b":"é"}'),
        ('{ "a" : [1, {"a": 2}] , "z":0 }', '{ "a" : 1 , "z":0 ,"b":"é"}'),
        ('{"a":1.0,"b":"\\"}","a":2}', '{"a":1,"b":"é","a":1}'),
        ('{"\\u0061":null, "b" : {}}', '{"\\u0061":1, "b" : "é"}'),
    ],
)
def test_values_are_set_and_every_other_character_stays(before: str, after: str) -> None:
    assert changed(before, {"a": 1, "b": "é"}) == after


def test_the_tools_of_a_namespace_are_offered_by_their_own_names() -> None:
    """Codex offers the tools of an MCP server so, and its model calls them by these names."""
    space = {"type": "namespace", "name": "mcp__fieldmark", "tools": [{"type": "function", "name": "ocr"}]}
    tools = [{"type": "function", "name": "exec_command"}, space, {"type": "web_search"}]

    assert responses.tool_names({"tools": tools}) == ["exec_command", "ocr", "web_search"]
