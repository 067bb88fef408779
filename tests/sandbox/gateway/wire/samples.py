"""The same request in each wire format: a system text, a picture, a call with its result, a tool."""

from __future__ import annotations

import base64
import json
from typing import Any

from tenacity import wait_none

from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.trace import ModelRequest, parse_event
from tests.model_server import ModelServer
from tests.sandbox.gateway.conftest import Inside

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x40\0\0\0\xc8\x08\x02\0\0\0 not all of it \xff\xfe\xfd"
"""A picture that says it is 320 x 200 pixels."""
CROP = PNG + b" of a box"
SCHEMA = {"type": "object", "properties": {"mode": {"type": "string"}}}
FORMATS = ("chat_completions", "responses", "messages")
ROUTES = dict(zip(FORMATS, ("/v1/chat/completions", "/v1/responses", "/v1/messages"), strict=True))


def uri(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def source(picture: bytes) -> dict[str, Any]:
    return {"type": "base64", "media_type": "image/png", "data": base64.b64encode(picture).decode()}


def request(wire: str, **more: Any) -> dict[str, Any]:
    """A request of a format, with a field that no format knows."""
    return {"model": "scripted", **_CONVERSATIONS[wire], "x_unknown": {"deep": [1, None, "é"]}, **more}


_CALL = {"id": "c1", "type": "function", "function": {"name": "ocr", "arguments": '{"mode": "text"}'}}
_CONVERSATIONS: dict[str, dict[str, Any]] = {
    "chat_completions": {
        "messages": [
            {"role": "system", "content": "Look."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": uri(PNG), "detail": "high"}},
                ],
            },
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "N8710M"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": uri(CROP)}}]},
        ],
        "tools": [{"type": "function", "function": {"name": "ocr", "parameters": SCHEMA}}],
    },
    "responses": {
        "instructions": "Look.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "image_url": uri(PNG), "detail": "high"},
                ],
            },
            {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "b3BhcXVl"},
            {"type": "function_call", "call_id": "c1", "name": "ocr", "arguments": '{"mode": "text"}'},
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [
                    {"type": "input_text", "text": "N8710M"},
                    {"type": "input_image", "image_url": uri(CROP)},
                ],
            },
        ],
        "tools": [{"type": "function", "name": "ocr", "parameters": SCHEMA}],
        "store": False,
    },
    "messages": {
        "max_tokens": 512,
        "system": [{"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": source(PNG)},
                    {"type": "text", "text": "What is this?"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "A plane.", "signature": "c2ln"},
                    {"type": "tool_use", "id": "c1", "name": "ocr", "input": {"mode": "text"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [
                            {"type": "text", "text": "N8710M"},
                            {"type": "image", "source": source(CROP)},
                        ],
                    }
                ],
            },
        ],
        "tools": [{"name": "ocr", "input_schema": SCHEMA}],
    },
}


def to(server: ModelServer, **options: Any) -> HttpUpstream:
    """An upstream that waits for nothing."""
    return HttpUpstream("scripted", server.url, "TEST_KEY", back_off=wait_none(), **options)


def raw(body: Any) -> bytes:
    """A request as the common clients write it."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def ask(inside: Inside, wire: str, body: Any) -> Any:
    """Send a request (bytes as they are) to the route of its format."""
    return await inside.ask("POST", ROUTES[wire], body)


def recorded(inside: Inside) -> ModelRequest:
    """The one request of a trace."""
    [row] = inside.events("model_request")
    event = parse_event(row)
    assert isinstance(event, ModelRequest)
    return event
