"""Parameters that a run sets in every request: what was asked, what was sent, what a server says."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.client import GatewayGone, GatewayRefused
from fieldmark.sandbox.gateway.wire import chat, responses
from fieldmark.sandbox.gateway.wire.common import Format
from fieldmark.sandbox.gateway.wire.forcing import forced
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Enter
from tests.sandbox.gateway.wire.samples import FORMATS, ask, recorded, request, to

FORCE = {"temperature": 0, "max_tokens": 2048, "seed": 1}


@pytest.mark.parametrize(
    ("wire", "asked", "limit"),
    [
        ("chat_completions", {}, {"max_tokens": 2048}),
        ("chat_completions", {"max_tokens": 32768}, {"max_tokens": 2048}),
        ("chat_completions", {"max_completion_tokens": 4096}, {"max_completion_tokens": 2048}),
        (
            "chat_completions",
            {"max_tokens": 9, "max_completion_tokens": 9},
            {"max_tokens": 2048, "max_completion_tokens": 2048},
        ),
        ("responses", {}, {"max_output_tokens": 2048}),
        ("responses", {"max_output_tokens": 100}, {"max_output_tokens": 2048}),
        ("messages", {"max_tokens": 512}, {"max_tokens": 2048}),
    ],
)
async def test_the_limit_goes_out_under_the_name_that_the_request_uses(
    enter: Enter, wire: str, asked: dict[str, Any], limit: dict[str, Any]
) -> None:
    body = request(wire, temperature=0.5, **asked)
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server, force=FORCE)) as inside:
            await ask(inside, wire, body)
            event = recorded(inside)
        assert server.requests == [{**body, "temperature": 0, "seed": 1, **limit}]
    assert event.sent == {"temperature": 0, "seed": 1, **limit}
    assert event.asked["temperature"] == 0.5
    assert "seed" not in event.asked


async def test_a_name_that_the_user_chose_is_used_where_the_request_has_none(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server, force={"max_completion_tokens": 10})) as inside:
            for wire in FORMATS:
                await ask(inside, wire, request(wire))
        limits = [{key: body[key] for key in body if key.startswith("max_")} for body in server.requests]
    assert limits == [{"max_completion_tokens": 10}, {"max_output_tokens": 10}, {"max_tokens": 10}]


@pytest.mark.parametrize(
    ("wire", "limit"), [(chat, {"max_tokens": 8192}), (responses, {"max_output_tokens": 16000})]
)
def test_of_two_limits_that_of_the_format_counts(wire: Format, limit: dict[str, int]) -> None:
    assert forced(wire, {"max_tokens": 8192, "max_output_tokens": 16000}, {}) == limit


async def test_what_is_asked_for_anyway_is_not_noted_as_changed(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server, force={"temperature": 0})) as inside:
            await ask(inside, "responses", request("responses", temperature=0))
            assert recorded(inside).sent == {}


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."},
        {"message": "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens"},
        {"message": "seed: Extra inputs are not permitted"},
        {"message": "no", "param": "temperature"},
    ],
)
async def test_a_forced_parameter_that_the_server_refuses_stops_the_run(
    enter: Enter, error: dict[str, Any]
) -> None:
    """It is the run's mistake, not the agent's: case 5-10."""
    with ModelServer([Reply(status=400, error=error)]) as server:
        async with enter(to(server, force=FORCE)) as inside:
            with pytest.raises(GatewayGone):
                await ask(inside, "chat_completions", request("chat_completions"))
            outcome = await inside.end()
        assert len(server.requests) == 1
    assert (outcome.status, outcome.error.kind, outcome.stops_run) == ("sandbox_error", "forced", True)
    assert "refuses the forced parameter" in outcome.error.message


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (FORCE, "'max_tokens' is too large: 2048. This model's maximum context length is 4096 tokens"),
        (FORCE, "top_p must be in (0, 1]"),
        ({}, "temperature does not support 0.5 with this model"),
    ],
)
async def test_any_other_refusal_is_the_agents_to_read(enter: Enter, force: Any, message: str) -> None:
    with ModelServer([Reply(status=400, error={"message": message})]) as server:
        async with enter(to(server, force=force)) as inside:
            with pytest.raises(GatewayRefused, match=message[:12]):
                await ask(inside, "chat_completions", request("chat_completions"))
