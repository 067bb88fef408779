"""What the react graph keeps: references to pictures, never their bytes."""

from __future__ import annotations

import base64
from typing import Any

from fieldmark.agents.acting import Acting
from fieldmark.agents.messages import is_picture
from fieldmark.agents.model import ChatModel
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.react import Loop, first_state
from fieldmark.client import GatewayClient
from fieldmark.tools.registry import get_tool
from tests.agents.conftest import OpenGateway
from tests.agents.scripted_gateway import CROP, VIEW, call, calls, says


def states(open_gateway: OpenGateway) -> tuple[list[dict[str, Any]], str]:
    """Every state of an episode with two crops, and the last request as it was sent."""
    gateway = open_gateway(
        calls(call("crop_zoom", CROP, "a1"), call("crop_zoom", {**CROP, "x1": 5}, "a2")), says("Answer: Saab")
    )
    prompt, client = gateway.prompt, GatewayClient(gateway.path)
    tools = [get_tool(name) for name in prompt.tools]
    pictures = Pictures(client, prompt)
    loop = Loop(ChatModel(client, prompt, pictures), Acting(prompt, client, tools, pictures), prompt.limits)
    seen = list(loop.graph().stream(first_state(prompt, tools), stream_mode="values"))
    return seen, str(gateway.requests[-1])


def test_no_state_holds_the_bytes_of_a_picture(open_gateway: OpenGateway) -> None:
    seen, sent = states(open_gateway)
    assert len(seen) > 4
    assert base64.b64encode(VIEW).decode() in sent
    assert all("base64" not in str(state) and str(VIEW) not in str(state) for state in seen)


def test_pictures_are_kept_as_references(open_gateway: OpenGateway) -> None:
    seen, _ = states(open_gateway)
    content = [row["content"] for row in seen[-1]["messages"] if isinstance(row["content"], list)]
    kept = [part for parts in content for part in parts if is_picture(part)]
    assert len(kept) == 3
    assert all(len(part["blob"]) == 64 for part in kept)
    assert kept[1]["of"] == kept[2]["of"] != kept[0]["blob"]
