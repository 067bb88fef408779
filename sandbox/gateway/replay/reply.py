"""A recorded response as a reply again, in the wire format that is asked now."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from fieldmark.sandbox.gateway.wire import messages, responses
from fieldmark.sandbox.gateway.wire.common import Body, Format, as_dict, as_list, compact
from fieldmark.sandbox.gateway.wire.rendering import Said, render, render_stream
from fieldmark.trace import ModelResponse

_AGENT_LEFT = re.compile(r"CancelledError\b|\w*Connection(?:Reset|Aborted)?Error\b|BrokenPipeError\b")


def was_left(response: ModelResponse) -> bool:
    """Whether the agent, or its time, was gone before the reply was whole."""
    return bool(_AGENT_LEFT.match(response.error or ""))


def is_whole(response: ModelResponse) -> bool:
    """Whether the agent got all of a reply, an error included."""
    return response.http >= 400 or (response.http > 0 and _error(response) is not None) or not response.error


def reply(
    wire: Format, response: ModelResponse, asked: Body, *, model: str, key: str
) -> tuple[str, Iterator[bytes]]:
    """Media type and chunks of a whole response's body. `asked` is the request, `key` names the reply."""
    if response.http >= 400 or response.error:
        return "application/json", iter([compact(_error_body(wire, response)).encode()])
    said = Said(
        model, key, response.text, response.tool_calls, response.reasoning, response.finish, response.tokens,
        _custom_tools(asked) if wire.NAME == responses.NAME else frozenset(),
    )  # fmt: skip
    if asked.get("stream"):
        return "text/event-stream", render_stream(wire, said)
    return "application/json", iter([render(wire, said)])


def _custom_tools(asked: Body) -> frozenset[str]:
    tools = [as_dict(tool) for tool in as_list(asked.get("tools"))]
    return frozenset(str(tool.get("name")) for tool in tools if tool.get("type") == "custom")


def _error(response: ModelResponse) -> Any:
    """The error as the server sent it; None where the trace has only words about it."""
    try:
        return json.loads(response.error or "")
    except (ValueError, RecursionError):
        return None


def _error_body(wire: Format, response: ModelResponse) -> Body:
    error = _error(response)
    if error is None:
        return wire.error(response.http, "replayed", response.error or f"HTTP {response.http}")
    return {**({"type": "error"} if wire.NAME == messages.NAME else {}), "error": error}
