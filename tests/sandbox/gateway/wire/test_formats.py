"""What holds in every wire format: bytes pass, facts are recorded, nobody's key goes astray."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fieldmark.client import GatewayRefused
from tests.model_server import Call, ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter
from tests.sandbox.gateway.wire.samples import (
    CROP,
    FORMATS,
    PNG,
    ROUTES,
    ask,
    raw,
    recorded,
    request,
    to,
)

SAID = Reply(
    "A grey gradient.",
    [Call("ocr", {"mode": "text"}), Call("crop_zoom", {"x1": 1})],
    reasoning="Let me look.",
)
KEY = "sk-TESTKEY-0123456789"
each_format = pytest.mark.parametrize("wire", FORMATS)
streamed_or_not = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@each_format
@streamed_or_not
async def test_the_same_facts_whatever_the_format(enter: Enter, wire: str, stream: bool) -> None:
    with ModelServer([SAID]) as server:
        async with enter(to(server)) as inside:
            await ask(inside, wire, request(wire, stream=stream))
            [response] = inside.events("model_response")
        assert server.paths == [ROUTES[wire]]
    assert response["text"] == "A grey gradient."
    assert response["reasoning"] == "Let me look."
    assert [(c["id"], c["name"], json.loads(c["arguments"])) for c in response["tool_calls"]] == [
        ("c0", "ocr", {"mode": "text"}),
        ("c1", "crop_zoom", {"x1": 1}),
    ]
    assert response["finish"] == "tool_calls"
    assert response["tokens"] == {"input": 100, "output": 10}
    assert "error" not in response


@each_format
async def test_every_part_of_a_request_is_recorded(enter: Enter, wire: str) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await ask(inside, wire, request(wire))
            event = recorded(inside)
            messages = [json.loads(inside.blobs.get_text(blob)) for blob in event.messages]
            pictures = [inside.blobs.get(picture.blob) for picture in event.pictures]
    assert (event.wire, event.tools) == (wire, ["ocr"])
    assert event.asked["x_unknown"] == {"deep": [1, None, "é"]}
    assert len(messages) == len(request(wire).get("messages") or request(wire)["input"])
    assert pictures == [PNG, CROP]
    assert [(p.width, p.height) for p in event.pictures] == [(320, 200)] * 2
    assert "Look." in json.dumps([*messages, inside.blobs.get_text(event.system) if event.system else ""])


@each_format
@streamed_or_not
async def test_what_a_server_sends_reaches_the_agent_to_the_byte(
    enter: Enter, wire: str, stream: bool
) -> None:
    """Odd spacing, comments, events and fields that nobody knows."""
    whole = b'{ "odd" : [1, 2.50, "\\u00e9"],\r\n "new_field":{} }'
    events = b': hello\n\nevent: odd.new_kind\r\ndata:  {"type": "odd.new_kind", "n": 1.0}\r\n\r\ndata: x\n\n'
    reply = (
        Reply(raw=[events[:20], events[20:]])
        if stream
        else Reply(raw=[whole], content_type="application/json")
    )
    with ModelServer([reply]) as server:
        async with enter(to(server)) as inside:
            got = await ask(inside, wire, request(wire, stream=stream))
    assert got.body == (events if stream else whole)


@each_format
async def test_what_an_agent_sends_reaches_the_server_to_the_byte(enter: Enter, wire: str) -> None:
    """A number's spelling, escapes, white space and a key given twice are no business of ours."""
    odd = b'{"n": 1.50,\t"same":1, "same" :2, "\\u0065":"\\ud83d\\ude00", ' + raw(request(wire))[1:]
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await ask(inside, wire, odd)
        assert server.raw == [odd]


@each_format
async def test_only_the_name_of_the_model_is_changed(enter: Enter, wire: str) -> None:
    odd = (
        b'{"n": 1.50,  "model" : "gpt-anything" , '
        + raw(request(wire)).replace(b'"model":"scripted",', b"")[1:]
    )
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await ask(inside, wire, odd)
            event = recorded(inside)
        assert server.raw == [odd.replace(b"gpt-anything", b"scripted")]
    assert (event.asked["model"], event.sent) == ("gpt-anything", {"model": "scripted"})


@each_format
async def test_the_key_is_the_gateways_and_harmless_headers_pass(
    enter: Enter, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    client = {
        "Authorization": "Bearer sk-of-the-client",
        "x-api-key": "sk-of-the-client",
        "api-key": "sk-of-the-client",
        "Cookie": "sk-of-the-client",
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "context-1m",
        "User-Agent": "opencode/1.18",
        "x-session-id": "ses_1",
    }
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await post(inside.client.path, ROUTES[wire], raw(request(wire)), client)
            event = recorded(inside)
        [got] = server.headers
        assert "sk-of-the-client" not in str(got)
        assert got["x-api-key" if wire == "messages" else "authorization"].endswith(KEY)
        assert (got["anthropic-version"], got["anthropic-beta"]) == ("2023-06-01", "context-1m")
        assert "x-session-id" not in got
    assert event.headers["x-session-id"] == "ses_1"
    assert KEY not in inside.trace.read_text()


@each_format
async def test_an_error_of_the_server_is_the_agents_to_read(enter: Enter, wire: str) -> None:
    with ModelServer([Reply(status=400, error={"message": "context too long"})]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayRefused, match="context too long"):
                await ask(inside, wire, request(wire))
            [response] = inside.events("model_response")
    assert response["http"] == 400
    assert "context too long" in response["error"]


@each_format
async def test_usage_that_is_not_told_is_unknown_and_not_nought(enter: Enter, wire: str) -> None:
    silent, null = (
        Reply("ok", usage=None),
        Reply("ok", usage={"prompt_tokens": None, "completion_tokens": None}),
    )
    with ModelServer([silent, null, silent, null]) as server:
        async with enter(to(server)) as inside:
            for n in range(4):
                await ask(inside, wire, request(wire, stream=n > 1, n=n))
            inside.session.finish()
            await inside.end()
            responses, [end] = inside.events("model_response"), inside.events("episode_end")
    assert [response.get("tokens") or {} for response in responses] == [{}] * 4
    assert "tokens" not in end
    assert end["counts"]["calls_without_usage"] == 4


@each_format
@streamed_or_not
async def test_a_reply_cut_short_by_its_limit_says_so(enter: Enter, wire: str, stream: bool) -> None:
    with ModelServer([Reply("It is a", finish="length")]) as server:
        async with enter(to(server)) as inside:
            await ask(inside, wire, request(wire, stream=stream))
            [response] = inside.events("model_response")
    assert (response["finish"], response["text"]) == ("length", "It is a")


@each_format
async def test_a_stream_that_breaks_off_is_recorded_as_far_as_it_came(enter: Enter, wire: str) -> None:
    with ModelServer([Reply("one two three four five six seven eight", cut=True)]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(Exception, match="gateway"):
                await ask(inside, wire, request(wire, stream=True))
            outcome = await inside.end()
            [response] = inside.events("model_response")
    assert (outcome.error.boundary, outcome.error.kind) == ("model", "cut")
    assert "one two three four five six seven eight".startswith(response["text"])
    assert "broke off" in response["error"]


@pytest.mark.parametrize("wire", ["responses", "messages"])
@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_server_that_does_not_speak_the_format_stops_the_run_at_once(
    enter: Enter, wire: str, status: int
) -> None:
    with ModelServer([Reply(status=status)]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(Exception, match="ended"):
                await ask(inside, wire, request(wire))
            outcome = await inside.end()
        assert len(server.requests) == 1
    title = {"responses": "Responses", "messages": "Messages"}[wire]
    assert f"answered {status}: it does not speak the {title} format" in outcome.error.message
    assert ROUTES[wire] in outcome.error.message
    assert outcome.stops_run


@pytest.mark.parametrize(
    "error",
    [
        {"message": "The model `x` does not exist", "code": "model_not_found"},
        {"message": "model: claude-none", "type": "not_found_error"},
    ],
)
async def test_a_404_for_the_model_is_not_taken_for_one_of_the_format(enter: Enter, error: Any) -> None:
    with ModelServer([Reply(status=404, error=error)]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(Exception, match="ended"):
                await ask(inside, "messages", request("messages"))
            outcome = await inside.end()
    assert "check the URL, the model's name and the key" in outcome.error.message


async def post(socket: str, route: str, body: bytes, headers: dict[str, str]) -> Any:
    """A request with headers of its own."""
    import httpx2

    async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=socket)) as client:
        return await client.post(f"http://gateway{route}", content=body, headers=headers, timeout=30)
