"""The Chat Completions format of OpenAI: `POST /v1/chat/completions`."""

from __future__ import annotations

from typing import Any

from fieldmark.chat import first_choice, read_call, read_chat, reasoning_of, text_of
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
from fieldmark.trace import CallRequest, Tokens

NAME = "chat_completions"
TITLE = "Chat Completions"
PATH = "/chat/completions"
SYSTEM: str | None = None
ITEMS = "messages"
LIMITS: tuple[str, ...] = ("max_tokens", "max_completion_tokens")

error = openai_error


def is_request(body: Body) -> bool:
    return isinstance(body.get("messages"), list)


def is_partial(body: Body) -> bool:
    return False


def tool_names(body: Body) -> list[str]:
    tools = [as_dict(tool) for tool in as_list(body.get("tools"))]
    # a custom tool names itself under `custom`; what the server does itself has a type only
    named = [as_dict(tool.get("function") or tool.get("custom")) for tool in tools]
    return [
        str(own.get("name") or ("" if own else tool.get("type", "")))
        for own, tool in zip(named, tools, strict=True)
    ]


def as_chat(body: Body) -> Body:
    return body


def read_response(parsed: Body) -> ResponseFacts:
    said = read_chat(parsed)
    return ResponseFacts(
        finish=said.finish,
        text=said.text or said.refusal or None,
        reasoning=said.reasoning or None,
        tool_calls=said.calls,
        tokens=tokens_of(parsed.get("usage")),
        error=said_error(parsed.get("error")),
    )


def read_stream() -> ChatStream:
    return ChatStream()


class ChatStream:
    """Deltas of one choice. Calls are told apart by index, and by id where a server repeats the index."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[CallRequest] = []
        self._open: dict[Any, CallRequest] = {}
        self._facts = ResponseFacts(complete=False)

    def event(self, event: Body) -> None:
        self._facts.error = said_error(event.get("error")) or self._facts.error
        self._facts.tokens = tokens_of(event.get("usage")) or self._facts.tokens
        choice = first_choice(event)
        self._facts.finish = as_text(choice.get("finish_reason")) or self._facts.finish
        delta = as_dict(choice.get("delta"))
        self._text.append(text_of(delta.get("content")) or text_of(delta.get("refusal")))
        self._reasoning.append(reasoning_of(delta))
        for part in as_list(delta.get("tool_calls")):
            self._call_part(as_dict(part))

    def facts(self) -> ResponseFacts:
        self._facts.text = "".join(self._text) or None
        self._facts.reasoning = "".join(self._reasoning) or None
        self._facts.tool_calls = self._calls
        self._facts.complete = self._facts.finish is not None
        return self._facts

    def _call_part(self, part: Body) -> None:
        index, new = as_count(part.get("index")), read_call(part, absent="")
        known = self._open.get(index)
        if known is None or (new.id and known.id and new.id != known.id):
            self._calls.append(new)
            self._open[index] = new
            return
        known.id = known.id or new.id
        known.name += new.name
        known.arguments += new.arguments


def tokens_of(usage: Any) -> Tokens | None:
    """The `usage` of a reply; None where it has none."""
    if not isinstance(usage, dict):
        return None
    return Tokens(
        input=as_count(usage.get("prompt_tokens")),
        output=as_count(usage.get("completion_tokens")),
        cached=as_count(as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning=as_count(as_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )
