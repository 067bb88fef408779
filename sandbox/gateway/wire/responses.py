"""The Responses format of OpenAI: `POST /v1/responses`."""

from __future__ import annotations

from collections import defaultdict
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
    openai_error,
    said_error,
)
from fieldmark.trace import CallRequest, ProviderCall, Tokens

NAME = "responses"
TITLE = "Responses"
PATH = "/responses"
SYSTEM: str | None = "instructions"
ITEMS = "input"
LIMITS: tuple[str, ...] = ("max_output_tokens",)

error = openai_error

_FINISH = {"max_output_tokens": "length", "completed": "stop"}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def is_request(body: Body) -> bool:
    # a request may go on from a stored one, or use a stored prompt, and say nothing new
    return isinstance(body.get("input", []), list | str)


def is_partial(body: Body) -> bool:
    return any(body.get(key) for key in ("previous_response_id", "conversation", "prompt"))


def tool_names(body: Body) -> list[str]:
    """A built-in has a type only; Codex offers the tools of an MCP server as one namespace of them."""
    tools = [as_dict(tool) for tool in as_list(body.get("tools"))]
    spaces = (as_list(tool.get("tools")) if tool.get("type") == "namespace" else [tool] for tool in tools)
    flat = [as_dict(tool) for space in spaces for tool in space]
    return [str(tool.get("name") or tool.get("type") or "") for tool in flat]


def read_response(parsed: Body) -> ResponseFacts:
    items = [as_dict(item) for item in as_list(parsed.get("output"))]
    calls = [call for item in items if (call := _call(item))]
    said = [item for item in items if item.get("type") == "message"]
    return ResponseFacts(
        finish=_finish(parsed, calls),
        text="".join(text_of(item.get("content")) for item in said) or None,
        reasoning="\n".join(filter(None, map(_reasoning, items))) or None,
        tool_calls=calls,
        provider_calls=[made for item in items if (made := _search(item))],
        tokens=_tokens(parsed.get("usage")),
        error=said_error(parsed.get("error")),
    )


def read_stream() -> ResponsesStream:
    return ResponsesStream()


class ResponsesStream:
    """The last event repeats the whole response; items and deltas count where it does not, or never comes."""

    def __init__(self) -> None:
        self._items: dict[Any, Body] = {}
        self._parts: defaultdict[Any, defaultdict[str, str]] = defaultdict(lambda: defaultdict(str))
        self._response: Body = {}
        self._error: str | None = None
        self._complete = False

    def event(self, event: Body) -> None:
        kind, index = as_text(event.get("type")) or "", as_count(event.get("output_index"))
        if kind.endswith(".delta"):
            self._parts[index][kind] += as_text(event.get("delta")) or ""
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[index] = as_dict(event.get("item"))
            if kind.endswith("done"):
                self._parts.pop(index, None)
        elif kind == "error":
            self._error = said_error(event.get("error") or event)
        self._response = as_dict(event.get("response")) or self._response
        self._complete = self._complete or kind in _ENDS

    def facts(self) -> ResponseFacts:
        output = as_list(self._response.get("output")) or [*self._so_far()]
        facts = read_response({**self._response, "output": output})
        facts.error = facts.error or self._error
        facts.complete = self._complete
        return facts

    def _so_far(self) -> Iterator[Body]:
        """Items as they were done, else as far as their deltas came."""
        for index in dict.fromkeys([*self._items, *self._parts]):
            item = dict(self._items.get(index, {}))
            for kind, text in self._parts[index].items():
                if kind == "response.output_text.delta":
                    item |= {"type": "message", "content": text}
                elif kind.startswith("response.reasoning"):
                    item |= {"type": "reasoning", "content": text}
                elif kind.endswith(("arguments.delta", "input.delta")):
                    item["arguments"] = text
            yield item


def as_chat(body: Body) -> Body:
    asked = body.get("input")
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else as_list(asked)
    system = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    messages = [_as_message(as_dict(item)) for item in items]
    return {"messages": system + [message for message in messages if message], "tools": _as_tools(body)}


def _as_message(item: Body) -> Body | None:
    kind, call = item.get("type"), _call(item)
    if call:
        function = {"name": call.name, "arguments": call.arguments}
        return {
            "role": "assistant",
            "tool_calls": [{"id": call.id, "type": "function", "function": function}],
        }
    if isinstance(kind, str) and kind.endswith("_output"):
        return {
            "role": "tool",
            "tool_call_id": item.get("call_id"),
            "content": text_of(item.get("output")),
            "is_error": item.get("status") in ("failed", "incomplete"),
        }
    if item.get("role"):
        return {"role": item["role"], "content": text_of(item.get("content"))}
    return None


def _as_tools(body: Body) -> list[Body]:
    tools = [as_dict(tool) for tool in as_list(body.get("tools"))]
    return [
        {
            "type": "function",
            "function": {"name": tool.get("name"), "parameters": as_dict(tool.get("parameters"))},
        }
        for tool in tools
        if tool.get("type") == "function"
    ]


def _call(item: Body) -> CallRequest | None:
    """A call for the client to carry out; those that the server carries out itself have no `call_id`."""
    kind = as_text(item.get("type")) or ""
    if not kind.endswith("_call") or not item.get("call_id"):
        return None
    given = next((item[key] for key in ("arguments", "input", "action") if item.get(key) is not None), None)
    name = item.get("name") or kind.removesuffix("_call")
    return CallRequest(id=str(item["call_id"]), name=str(name), arguments=raw_arguments(given))


def _search(item: Body) -> ProviderCall | None:
    """A search that the server carried out; it also opens pages by such a call, which have a URL."""
    if item.get("type") != "web_search_call":
        return None
    action = as_dict(item.get("action"))
    said = next((text for key in ("query", "url") if (text := as_text(action.get(key)))), None)
    return ProviderCall(kind=as_text(action.get("type")) or "search", query=said and said[:1000])


def _reasoning(item: Body) -> str:
    if item.get("type") != "reasoning":
        return ""
    return text_of(item.get("content")) or text_of(item.get("summary"))


def _finish(parsed: Body, calls: list[CallRequest]) -> str | None:
    word = as_text(as_dict(parsed.get("incomplete_details")).get("reason")) or as_text(parsed.get("status"))
    if word == "completed" and calls:
        return "tool_calls"
    return _FINISH.get(word, word) if word else None


def _tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    return Tokens(
        input=as_count(usage.get("input_tokens")),
        output=as_count(usage.get("output_tokens")),
        cached=as_count(as_dict(usage.get("input_tokens_details")).get("cached_tokens")),
        reasoning=as_count(as_dict(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
