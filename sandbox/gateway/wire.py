"""Reading the Chat Completions wire format as it passes: requests, whole responses and streams.

Nothing here changes a byte that passes; odd or broken messages give empty facts, never an exception.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fieldmark.trace import CallRequest, Tokens

Store = Callable[[bytes, str], str]
"""Keeps bytes of a media type; returns their sha256."""

_SPELT_URI = re.compile(r"data:(image\\?/[\w.+-]+);base64,((?:[A-Za-z0-9+/=]|\\/)+)")  # `/` may be `\/`
_DATA_URI = re.compile(r"data:(image/[\w.+-]+);base64,([A-Za-z0-9+/=\s]+)")


@dataclass
class ResponseFacts:
    """What a model answered. `complete` is false when a stream broke off before its end."""

    finish: str | None = None
    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[CallRequest] = field(default_factory=list)
    tokens: Tokens | None = None
    error: str | None = None
    complete: bool = True


def tool_names(body: dict[str, Any]) -> list[str]:
    """The names of the tools that a request offers, in order."""
    tools = body.get("tools")
    functions = [_dict(tool).get("function") for tool in tools] if isinstance(tools, list) else []
    return [str(_dict(function).get("name", "")) for function in functions]


def without_pictures(message: Any, store: Store) -> Any:
    """A copy with `blob:<sha256>` in place of each data URI, wherever it stands; `store` keeps the bytes."""
    if isinstance(message, str):
        match = _DATA_URI.fullmatch(message)
        return _stored(match, match[2], store) if match else message
    if isinstance(message, dict):
        return {key: without_pictures(value, store) for key, value in message.items()}
    if isinstance(message, list):
        return [without_pictures(value, store) for value in message]
    return message


def without_uris(raw: bytes, store: Store) -> str:
    """The text of a request in its own spelling, with `blob:<sha256>` in place of each data URI."""

    def replaced(match: re.Match[str]) -> str:
        return _stored(match, match[2].replace("\\/", "/"), store)

    return _SPELT_URI.sub(replaced, raw.decode("utf-8", "replace"))


def _stored(match: re.Match[str], base64_text: str, store: Store) -> str:
    try:
        data = base64.b64decode(base64_text, validate=False)
    except binascii.Error:
        return match[0]
    return f"blob:{store(data, match[1].replace(chr(92), ''))}"


def compact(value: Any) -> str:
    """JSON as the common clients write it: no spaces, plain Unicode."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_response(body: bytes) -> ResponseFacts:
    """Facts of a whole (not streamed) response."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return ResponseFacts(error="the upstream's reply is not JSON")
    return _facts_of_message(_dict(parsed), "message")


class StreamReader:
    """Collects the facts of a server-sent-event stream from chunks of any size."""

    def __init__(self) -> None:
        self._rest = b""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._facts = ResponseFacts(complete=False)

    def feed(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._event(line[5:].strip())

    def facts(self) -> ResponseFacts:
        self._facts.text = "".join(self._text) or None
        self._facts.reasoning = "".join(self._reasoning) or None
        self._facts.tool_calls = [
            CallRequest(id=c["id"], name=c["name"], arguments=c["arguments"])
            for _, c in sorted(self._calls.items())
        ]
        if self._facts.finish:
            self._facts.complete = True
        return self._facts

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._facts.complete = True
            return
        try:
            event = _dict(json.loads(data))
        except (ValueError, RecursionError):
            return
        if event.get("error"):
            self._facts.error = compact(event["error"])[:500]
        self._facts.tokens = _tokens(event.get("usage")) or self._facts.tokens
        choice = _first_choice(event)
        self._facts.finish = _text(choice.get("finish_reason")) or self._facts.finish
        self._delta(_dict(choice.get("delta")))

    def _delta(self, delta: dict[str, Any]) -> None:
        self._text.append(_content_text(delta.get("content")))
        self._reasoning.append(_reasoning_text(delta))
        for call in _list(delta.get("tool_calls")):
            call = _dict(call)
            index = call.get("index")
            slot = index if isinstance(index, int) else len(self._calls)
            known = self._calls.setdefault(slot, {"id": "", "name": "", "arguments": ""})
            function = _dict(call.get("function"))
            known["id"] = known["id"] or str(call.get("id") or "")
            known["name"] += str(function.get("name") or "")
            known["arguments"] += str(function.get("arguments") or "")


def _facts_of_message(parsed: dict[str, Any], key: str) -> ResponseFacts:
    choice = _first_choice(parsed)
    message = _dict(choice.get(key))
    calls = [_dict(call) for call in _list(message.get("tool_calls"))]
    return ResponseFacts(
        finish=_text(choice.get("finish_reason")),
        text=_content_text(message.get("content")) or None,
        reasoning=_reasoning_text(message) or None,
        tool_calls=[_call(call) for call in calls],
        tokens=_tokens(parsed.get("usage")),
        error=compact(parsed["error"])[:500] if parsed.get("error") else None,
    )


def _call(call: dict[str, Any]) -> CallRequest:
    function = _dict(call.get("function"))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else compact(arguments or {})
    return CallRequest(id=str(call.get("id") or ""), name=str(function.get("name") or ""), arguments=text)


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(_dict(part).get("text") or "") for part in _list(content))


def _reasoning_text(message: dict[str, Any]) -> str:
    return str(message.get("reasoning_content") or message.get("reasoning") or "")


def _tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    details = _dict(usage.get("completion_tokens_details"))
    return Tokens(
        input=_count(usage.get("prompt_tokens")),
        output=_count(usage.get("completion_tokens")),
        reasoning=_count(details.get("reasoning_tokens")),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _first_choice(parsed: dict[str, Any]) -> dict[str, Any]:
    return _dict(next(iter(_list(parsed.get("choices"))), None))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
