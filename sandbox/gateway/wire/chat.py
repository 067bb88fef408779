"""The Chat Completions format of OpenAI: `POST /v1/chat/completions`."""

from __future__ import annotations

from typing import Any

from fieldmark.sandbox.gateway.wire.common import (
    Body,
    ResponseFacts,
    as_count,
    as_dict,
    as_list,
    as_text,
    openai_error,
    raw_arguments,
    said_error,
    texts,
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
    # a custom tool names itself under `custom`
    return [str(as_dict(t.get("function") or t.get("custom")).get("name", "")) for t in tools]


def as_chat(body: Body) -> Body:
    return body


def read_response(parsed: Body) -> ResponseFacts:
    choice = _first_choice(parsed)
    message = as_dict(choice.get("message"))
    return ResponseFacts(
        finish=as_text(choice.get("finish_reason")),
        text=texts(message.get("content")) or None,
        reasoning=_reasoning(message) or None,
        tool_calls=[_call(as_dict(call)) for call in as_list(message.get("tool_calls"))],
        tokens=_tokens(parsed.get("usage")),
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
        self._facts.tokens = _tokens(event.get("usage")) or self._facts.tokens
        choice = _first_choice(event)
        self._facts.finish = as_text(choice.get("finish_reason")) or self._facts.finish
        delta = as_dict(choice.get("delta"))
        self._text.append(texts(delta.get("content")))
        self._reasoning.append(_reasoning(delta))
        for part in as_list(delta.get("tool_calls")):
            self._call_part(as_dict(part))

    def facts(self) -> ResponseFacts:
        self._facts.text = "".join(self._text) or None
        self._facts.reasoning = "".join(self._reasoning) or None
        self._facts.tool_calls = self._calls
        self._facts.complete = self._facts.finish is not None
        return self._facts

    def _call_part(self, part: Body) -> None:
        index, new = as_count(part.get("index")), _call(part, arguments="")
        known = self._open.get(index)
        if known is None or (new.id and known.id and new.id != known.id):
            self._calls.append(new)
            self._open[index] = new
            return
        known.id = known.id or new.id
        known.name += new.name
        known.arguments += new.arguments


def _call(call: Body, arguments: str = "{}") -> CallRequest:
    """`arguments`: what stands for arguments that are absent."""
    function = as_dict(call.get("function") or call.get("custom"))
    given = function.get("arguments", function.get("input"))
    return CallRequest(
        id=str(call.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=arguments if given is None else raw_arguments(given),
    )


def _reasoning(message: Body) -> str:
    return str(message.get("reasoning_content") or message.get("reasoning") or "")


def _tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    return Tokens(
        input=as_count(usage.get("prompt_tokens")),
        output=as_count(usage.get("completion_tokens")),
        cached=as_count(as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning=as_count(as_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def _first_choice(parsed: Body) -> Body:
    return as_dict(next(iter(as_list(parsed.get("choices"))), None))
