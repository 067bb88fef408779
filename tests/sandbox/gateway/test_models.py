"""The tap: what passes unchanged, what is recorded, what is retried, and whose fault a failure is."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
from pathlib import Path
from typing import Any

import pytest
from tenacity import wait_none

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.sandbox.gateway.endpoint import endpoint
from fieldmark.sandbox.gateway.tap import ask
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.task import Limits
from tests.model_server import Call, ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.sandbox.gateway.web.conftest import certificates

ASK = {"model": "scripted", "messages": [{"role": "user", "content": "What is this?"}]}
KEY = "sk-TESTKEY-0123456789"


def to(server: ModelServer) -> HttpUpstream:
    return HttpUpstream("scripted", server.url, "TEST_KEY", back_off=wait_none())


async def chat(inside: Inside, body: dict[str, Any] | None = None) -> Any:
    return await inside.ask("POST", "/v1/chat/completions", body or ASK)


async def test_a_whole_reply_passes_and_is_recorded(enter: Enter) -> None:
    reply = Reply("A gradient.", [Call("ocr", {"mode": "text"})])
    with ModelServer([reply]) as server:
        async with enter(to(server)) as inside:
            answer = (await chat(inside)).json()
            [request], [response] = inside.events("model_request"), inside.events("model_response")
    assert answer["choices"][0]["message"]["content"] == "A gradient."
    assert request["call"] == response["call"] == "m1"
    assert response["text"] == "A gradient."
    assert response["tool_calls"] == [{"id": "c0", "name": "ocr", "arguments": '{"mode": "text"}'}]
    assert response["tokens"] == {"input": 100, "output": 10}
    assert response["by"] == "gateway"


async def test_a_stream_passes_and_is_recorded_as_if_whole(enter: Enter) -> None:
    reply = Reply("A grey gradient.", [Call("ocr", {"mode": "text"}), Call("crop_zoom", {"x1": 1})])
    with ModelServer([reply]) as server:
        async with enter(to(server)) as inside:
            body = (await chat(inside, {**ASK, "stream": True})).body.decode()
            [response] = inside.events("model_response")
    assert body.count("data: ") >= 6
    assert body.rstrip().endswith("data: [DONE]")
    assert response["text"] == "A grey gradient."
    assert [(c["name"], json.loads(c["arguments"])) for c in response["tool_calls"]] == [
        ("ocr", {"mode": "text"}),
        ("crop_zoom", {"x1": 1}),
    ]
    assert response["first_token_seconds"] <= response["seconds"]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_built_in_model_speaks_the_same_format(enter: Enter, stream: bool) -> None:
    ocr = {
        "type": "function",
        "function": {"name": "ocr", "parameters": {"type": "object", "properties": {}}},
    }
    async with enter() as inside:
        reply = await chat(inside, {**ASK, "tools": [ocr], "stream": stream})
        [response] = inside.events("model_response")
    assert reply.headers["content-type"].startswith("text/event-stream" if stream else "application/json")
    assert [call["name"] for call in response["tool_calls"]] == ["ocr"]
    assert (response["finish"], response["http"]) == ("tool_calls", 200)


async def test_the_key_is_added_on_the_host_and_stands_in_no_file(
    enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await chat(inside)
        assert server.keys == [f"Bearer {KEY}"]
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


async def test_a_picture_in_a_request_becomes_one_blob(enter: Enter) -> None:
    async with enter() as inside:
        view = (await inside.ask("GET", "/image")).body
    picture = "data:image/png;base64," + base64.b64encode(view).decode()
    body = {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Look."},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]},
        ],
    }
    with ModelServer([Reply("ok")]) as server:
        async with enter_again(enter, to(server), inside) as inside:
            await chat(inside, body)
            [request] = inside.events("model_request")
            rebuilt = [json.loads(inside.blobs.get_text(blob)) for blob in request["messages"]]
    [seen] = request["pictures"]
    assert (seen["width"], seen["height"]) == (320, 200)
    assert rebuilt[0] == body["messages"][0]
    assert rebuilt[1]["content"][0]["image_url"]["url"] == f"blob:{seen['blob']}"
    assert inside.blobs.get(seen["blob"]) == view
    assert "base64" not in inside.trace.read_text()


def enter_again(enter: Enter, upstream: HttpUpstream, before: Inside) -> Any:
    """A second session in the same folder."""
    for path in before.blobs.folder.iterdir():
        path.unlink()
    before.blobs.folder.rmdir()
    return enter(upstream)


async def test_what_the_agent_asked_is_kept_apart_from_what_was_sent(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await chat(inside, {**ASK, "model": "gpt-anything", "temperature": 0.5, "odd": [1]})
            [request] = inside.events("model_request")
        [arrived] = server.requests
    assert request["asked"] == {"model": "gpt-anything", "temperature": 0.5, "odd": [1]}
    assert request["sent"] == {"model": "scripted"}
    assert arrived == {**ASK, "temperature": 0.5, "odd": [1]}


async def test_the_budget_of_calls_ends_in_an_error_that_clients_do_not_retry(enter: Enter) -> None:
    with ModelServer([Reply("thinking")]) as server:
        async with enter(to(server), limits=Limits(model_calls=2)) as inside:
            await chat(inside)
            await chat(inside)
            with pytest.raises(GatewayRefused) as refused:
                await chat(inside)
            await inside.post("/done", {"error": {"kind": "crash", "message": "gave up"}})
            outcome = await inside.end()
        assert len(server.requests) == 2
    assert (refused.value.status, refused.value.kind) == (400, "budget_exhausted")
    assert outcome.status == "budget"


@pytest.mark.parametrize(
    "fault",
    [
        Reply(status=429),
        Reply(status=500),
        Reply(status=503),
        Reply(drop=True),
        Reply("half of it", cut=True),
    ],
    ids=["429", "500", "503", "closed at once", "cut in the middle"],
)
async def test_a_passing_fault_is_tried_again_before_the_agent_sees_anything(
    enter: Enter, fault: Reply
) -> None:
    left_open: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: left_open.append(context))
    with ModelServer([fault, fault, Reply("at last")]) as server:
        async with enter(to(server)) as inside:
            answer = (await chat(inside)).json()
            [response] = inside.events("model_response")
    gc.collect()
    assert left_open == []
    assert answer["choices"][0]["message"]["content"] == "at last"
    assert response["tries"] == 3
    assert "half" not in (response["text"] or "")


async def test_a_date_to_wait_for_counts_by_the_servers_own_clock(enter: Enter) -> None:
    headers = {"Date": "Fri, 01 Jan 2038 00:00:00 GMT", "Retry-After": "Fri, 01 Jan 2038 00:00:01 GMT"}
    with ModelServer([Reply(status=429, headers=headers), Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await chat(inside)
            [response] = inside.events("model_response")
    assert (response["tries"], int(response["waited"])) == (2, 1)


async def test_waiting_for_a_rate_limit_is_not_charged_to_the_agent(enter: Enter) -> None:
    slow_down = Reply(status=429, headers={"Retry-After": "1"})
    with ModelServer([slow_down, Reply("ok")]) as server:
        async with enter(to(server), limits=Limits(seconds=0.8)) as inside:
            await chat(inside)
            await inside.post("/events", {"kind": "answer", "text": "ok"})
            await inside.post("/done", {"error": None})
            outcome = await inside.end()
            [end], [response] = inside.events("episode_end"), inside.events("model_response")
    assert outcome.status == "answered"
    assert end["seconds"] > 1.0 > end["charged_seconds"]
    assert response["waited"] >= 1.0 > response["seconds"]


@pytest.mark.parametrize(
    ("fault", "kind", "stops_run"),
    [
        (Reply(status=500), "unreachable", False),
        (Reply(status=401), "401", True),
        (Reply(status=404), "404", True),
        (Reply(status=429, error={"code": "insufficient_quota", "message": "no"}), "quota", True),
        (Reply(status=402, error={"message": "Insufficient credits"}), "quota", True),
        (Reply(status=400, error={"message": "Your credit balance is too low to use this"}), "quota", True),
    ],
    ids=["500 for ever", "wrong key", "wrong path", "quota", "credits", "balance"],
)
async def test_a_lasting_fault_of_the_upstream_is_never_the_agents(
    enter: Enter, fault: Reply, kind: str, stops_run: bool
) -> None:
    with ModelServer([fault]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayGone):
                await chat(inside)
            outcome = await inside.end()
    assert (outcome.status, outcome.error.boundary, outcome.error.kind) == ("sandbox_error", "model", kind)
    assert outcome.stops_run is stops_run


async def test_a_refused_request_is_the_agents_to_read(enter: Enter) -> None:
    with ModelServer(
        [Reply(status=400, error={"message": "context too long", "code": "context_length_exceeded"})]
    ) as s:
        async with enter(to(s)) as inside:
            with pytest.raises(GatewayRefused, match="context too long"):
                await chat(inside)
            [response] = inside.events("model_response")
            lacking = inside.session.counts["calls_without_usage"]
        assert len(s.requests) == 1
    assert response["http"] == 400
    assert lacking == 0, "a request that was refused has used no tokens"


async def test_a_call_in_flight_at_the_limit_is_recorded_as_cancelled(enter: Enter) -> None:
    with ModelServer([Reply(hang=True)]) as server:
        async with enter(to(server), limits=Limits(seconds=0.5)) as inside:
            import asyncio

            waiting = asyncio.create_task(chat(inside))
            outcome = await inside.end()
            with pytest.raises(GatewayGone):
                await waiting
            [response] = inside.events("model_response")
    assert outcome.status == "timeout"
    assert response["http"] == 0
    assert response["error"]


@pytest.mark.parametrize(
    "base",
    [
        "http://h:1",
        "http://h:1/",
        "http://h:1/v1",
        "http://h:1/v1/",
        "http://h:1/v1/v1",
        "http://h:1/v1/chat/completions",
        "http://h:1/v1/responses/",
        "http://h:1/v1/messages",
    ],
)
@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/messages"])
def test_every_usual_spelling_of_a_base_url_means_the_same(base: str, path: str) -> None:
    assert endpoint(base, path) == f"http://h:1/v1{path}"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
        ("https://h/api/v1/v1/", "https://h/api/v1/chat/completions"),
        (
            "https://h/openai/deployments/d?api-version=1",
            "https://h/openai/deployments/d/chat/completions?api-version=1",
        ),
    ],
)
def test_other_prefixes_and_queries_are_left_alone(base: str, url: str) -> None:
    assert endpoint(base, "/chat/completions") == url


async def test_a_request_in_another_spelling_is_kept_to_the_byte_apart_from_its_pictures(
    enter: Enter,
) -> None:
    """With spaces, and `/` escaped as PHP escapes it."""
    picture = b"not really a picture"
    uri = "data:image/png;base64," + base64.b64encode(picture * 40).decode()
    body = {"model": "scripted", "messages": [{"role": "user", "content": [{"url": uri}]}], "n": 1}
    raw = json.dumps(body, indent=2).replace("/", "\\/").encode()
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            await inside.ask("POST", "/v1/chat/completions", raw)
            [request] = inside.events("model_request")
            kept = inside.blobs.get_text(request["raw"])
        assert server.requests == [body]
    [seen] = request["pictures"]
    assert inside.blobs.get(seen["blob"]) == picture * 40
    assert kept.encode() == raw.replace(uri.replace("/", "\\/").encode(), f"blob:{seen['blob']}".encode())


@pytest.mark.parametrize("value", ["3600", "Fri, 31 Dec 2038 23:59:59 GMT"])
async def test_a_pause_longer_than_is_waited_for_stops_the_run_at_once(enter: Enter, value: str) -> None:
    with ModelServer([Reply(status=429, headers={"Retry-After": value})]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayGone):
                await chat(inside)
            outcome = await inside.end()
        assert len(server.requests) == 1
    assert (outcome.error.kind, outcome.stops_run) == ("rate_limit", True)


async def test_a_stream_that_breaks_off_is_the_models_fault(enter: Enter) -> None:
    with ModelServer([Reply("a long answer", cut=True)]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayGone):
                await chat(inside, {**ASK, "stream": True})
            outcome = await inside.end()
            [response] = inside.events("model_response")
    assert (outcome.status, outcome.error.boundary, outcome.error.kind) == ("sandbox_error", "model", "cut")
    assert "broke off" in response["error"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_never_stops_talking_is_cut_off(
    enter: Enter, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fieldmark.sandbox.gateway import upstream

    monkeypatch.setattr(upstream, "MAX_REPLY", 100_000)
    with ModelServer([Reply("word " * 50_000)]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayGone):
                await chat(inside, {**ASK, "stream": stream})
            outcome = await inside.end()
        assert len(server.requests) == 1
    assert (outcome.error.boundary, outcome.error.kind) == ("model", "reply_too_large")


async def test_a_certificate_that_is_not_trusted_is_named_with_its_remedy(
    enter: Enter, tmp_path: Path
) -> None:
    """Case 5-17."""
    with ModelServer([Reply("ok")], tls=certificates(tmp_path)[0]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayGone):
                await chat(inside)
            outcome = await inside.end()
    assert (outcome.error.kind, outcome.stops_run) == ("certificate", True)
    assert "SSL_CERT_FILE" in outcome.error.message


async def test_a_ca_of_ones_own_is_trusted_once_it_is_named(
    enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([Reply("ok")], tls=certificates(tmp_path)[0]) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
        async with enter(to(server)) as inside:
            await chat(inside)
            [response] = inside.events("model_response")
    assert response["text"] == "ok"


async def test_tokens_are_counted_by_the_server_and_are_no_model_call(enter: Enter) -> None:
    body = {"model": "claude-any", "messages": [{"role": "user", "content": "What is this?"}]}
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            counted = await inside.ask("POST", "/v1/messages/count_tokens", body)
            assert inside.events("model_request") == []
        assert (server.paths, server.requests[0]["model"]) == (["/v1/messages/count_tokens"], "scripted")
    assert counted.json() == {"input_tokens": 123}


async def test_a_server_that_cannot_count_is_no_fault(enter: Enter) -> None:
    with ModelServer([Reply("ok")], speaks=["/v1/chat/completions"]) as server:
        async with enter(to(server)) as inside:
            with pytest.raises(GatewayRefused) as refused:
                await inside.ask("POST", "/v1/messages/count_tokens", {"model": "x", "messages": []})
            await chat(inside)
    assert refused.value.status == 404


async def test_a_call_of_the_gateways_own_is_recorded_and_in_no_budget(enter: Enter) -> None:
    """As the model behind `inspect_image` is asked."""
    with ModelServer([Reply("a propeller")]) as eyes:
        upstream = HttpUpstream("eyes-model", eyes.url, force={"temperature": 0})
        async with enter(limits=Limits(model_calls=1)) as inside:
            status, reply = await ask(inside.session, upstream, {"messages": ASK["messages"]}, role="eyes")
            await upstream.close()
            await chat(inside)
            requests, responses = inside.events("model_request"), inside.events("model_response")
    assert (status, reply["choices"][0]["message"]["content"]) == (200, "a propeller")
    assert [(row["call"], row["role"], row["model"]) for row in requests] == [
        ("eyes1", "eyes", "eyes-model"),
        ("m1", "agent", "builtin/scout"),
    ]
    assert requests[0]["sent"] == {"model": "eyes-model", "temperature": 0}
    assert (responses[0]["call"], responses[0]["text"]) == ("eyes1", "a propeller")
    assert (inside.session.counts["eyes_calls"], inside.session.tokens.input) == (1, 0)


@pytest.mark.parametrize("route", ["/v1/embeddings", "/v1/responses/resp_1"])
async def test_a_route_that_is_not_there_is_said_in_the_shape_that_clients_read(
    enter: Enter, route: str
) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match=f"no route GET {route}") as refused:
            await inside.ask("GET", route)
    assert (refused.value.status, refused.value.kind) == (404, "not_found")
