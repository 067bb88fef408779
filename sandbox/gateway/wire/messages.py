"""The Messages format of Anthropic: `POST /v1/messages`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fieldmark.chat import raw_arguments, text_of
from fieldmark.sandbox.gateway.wire.common import (
    Body,
    ResponseFacts,
    as_count,
    as_dict,
    as_list,
    as_text,
    said_error,
)
from fieldmark.trace import CallRequest, Tokens

NAME = "messages"
TITLE = "Messages"
PATH = "/messages"
COUNT_PATH = "/messages/count_tokens"
SYSTEM: str | None = "system"
ITEMS = "messages"
LIMITS: tuple[str, ...] = ("max_tokens",)

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_ERRORS = {404: "not_found_error", 413: "request_too_large"}


def is_request(body: Body) -> bool:
    return isinstance(body.get("messages"), list)


def is_partial(body: Body) -> bool:
    return False


def tool_names(body: Body) -> list[str]:
    tools = [as_dict(tool) for tool in as_list(body.get("tools"))]
    return [str(tool.get("name") or tool.get("type") or "") for tool in tools]


def error(status: int, code: str, message: str) -> Body:
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def read_response(parsed: Body) -> ResponseFacts:
    blocks = [as_dict(block) for block in as_list(parsed.get("content"))]
    return ResponseFacts(
        finish=_finish(parsed.get("stop_reason")),
        text=text_of(blocks, "text") or None,
        reasoning="".join(as_text(block.get("thinking")) or "" for block in blocks) or None,
        tool_calls=[_call(block) for block in blocks if block.get("type") == "tool_use"],
        tokens=_tokens(parsed.get("usage")),
        error=said_error(parsed.get("error")),
    )


def read_stream() -> MessagesStream:
    return MessagesStream()


class MessagesStream:
    """Blocks by index, each begun, added to and ended; usage comes in two parts."""

    def __init__(self) -> None:
        self._blocks: dict[Any, Body] = {}
        self._json: dict[Any, str] = {}
        self._usage: Body = {}
        self._finish: Any = None
        self._error: str | None = None
        self._complete = False

    def event(self, event: Body) -> None:
        kind, index = event.get("type"), as_count(event.get("index"))
        if kind == "message_start":
            # what it says of output is the first token's; an input of 0 is a server that does not know yet
            usage = as_dict(as_dict(event.get("message")).get("usage"))
            self._usage = {key: value for key, value in usage.items() if value and key != "output_tokens"}
        elif kind == "content_block_start":
            self._blocks[index] = dict(as_dict(event.get("content_block")))
        elif kind == "content_block_delta":
            self._delta(index, as_dict(event.get("delta")))
        elif kind == "message_delta":
            self._finish = as_dict(event.get("delta")).get("stop_reason") or self._finish
            usage = as_dict(event.get("usage"))
            self._usage |= {key: value for key, value in usage.items() if value is not None}
        elif kind == "message_stop":
            self._complete = True
        elif kind == "error":
            self._error = said_error(event.get("error") or event)

    def facts(self) -> ResponseFacts:
        for index, text in self._json.items():
            self._blocks[index]["input"] = text
        facts = read_response(
            {"content": [*self._blocks.values()], "stop_reason": self._finish, "usage": self._usage or None}
        )
        facts.error = self._error
        facts.complete = self._complete
        return facts

    def _delta(self, index: int | None, delta: Body) -> None:
        block = self._blocks.setdefault(index, {"type": "text"})
        if isinstance(delta.get("partial_json"), str):
            self._json[index] = self._json.get(index, "") + delta["partial_json"]
        for key in ("text", "thinking"):
            if isinstance(delta.get(key), str):
                block[key] = (as_text(block.get(key)) or "") + delta[key]


def as_chat(body: Body) -> Body:
    system = [{"role": "system", "content": text_of(body["system"])}] if body.get("system") else []
    messages = [turned for item in as_list(body.get("messages")) for turned in _as_messages(as_dict(item))]
    tools = [as_dict(tool) for tool in as_list(body.get("tools"))]
    functions = [
        {"name": tool.get("name"), "parameters": as_dict(tool.get("input_schema"))} for tool in tools
    ]
    return {
        "messages": system + messages,
        "tools": [{"type": "function", "function": function} for function in functions],
    }


def _as_messages(item: Body) -> Iterator[Body]:
    """Results come before what is said beside them, as they do in Chat Completions."""
    blocks = [as_dict(block) for block in as_list(item.get("content"))]
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {
                "role": "tool",
                "tool_call_id": block.get("tool_use_id"),
                "content": text_of(block.get("content")),
                "is_error": block.get("is_error") is True,
            }
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    said: Body = {"role": item.get("role"), "content": text_of(item.get("content"), "text")}
    if calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    if said["content"] or calls:
        yield said


def _call(block: Body) -> CallRequest:
    return CallRequest(
        id=str(block.get("id") or ""),
        name=str(block.get("name") or ""),
        arguments=raw_arguments(block.get("input")) or "{}",
    )


def _finish(reason: Any) -> str | None:
    return _FINISH.get(reason, reason) if isinstance(reason, str) else None


def _tokens(usage: Any) -> Tokens | None:
    """`input` is all of it: this format alone reports what came from a cache, or went into it, apart."""
    if not isinstance(usage, dict):
        return None
    fresh = as_count(usage.get("input_tokens"))
    cached = as_count(usage.get("cache_read_input_tokens"))
    written = as_count(usage.get("cache_creation_input_tokens"))
    return Tokens(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output=as_count(usage.get("output_tokens")),
        cached=cached,
    )
