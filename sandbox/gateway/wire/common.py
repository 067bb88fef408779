"""What the three wire formats share: the facts of a reply, server-sent events, tolerant reading.

Nothing here changes a byte that passes; odd or broken messages give empty facts, never an exception.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Protocol

from fieldmark.trace import CallRequest, ProviderCall, Tokens

Body = dict[str, Any]


@dataclass
class ResponseFacts:
    """What a model answered. `complete` is false when a stream broke off before its end.

    `finish` is in the words of Chat Completions (`stop`, `tool_calls`, `length`, `content_filter`) where
    the format's own word means one of them, else the word itself. `provider_calls` are searches that the
    server carried out itself.
    """

    finish: str | None = None
    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[CallRequest] = field(default_factory=list)
    provider_calls: list[ProviderCall] = field(default_factory=list)
    tokens: Tokens | None = None
    error: str | None = None
    complete: bool = True


class Stream(Protocol):
    """Collects the facts of a streamed reply, event by event."""

    def event(self, event: Body) -> None:
        """Take one event, as parsed JSON."""

    def facts(self) -> ResponseFacts:
        """What the events so far amount to."""


class Format(Protocol):
    """One wire format: a module with these names.

    `NAME` stands in the trace. `PATH` follows the base URL. `SYSTEM` is the key of the instructions that
    stand outside the conversation (None: there is none), `ITEMS` that of the conversation. `LIMITS` are the
    names of the limit of output tokens, the usual one first.
    """

    NAME: str
    TITLE: str
    PATH: str
    SYSTEM: str | None
    ITEMS: str
    LIMITS: tuple[str, ...]

    def is_request(self, body: Body) -> bool:
        """Whether this can be a request of the format at all."""

    def is_partial(self, body: Body) -> bool:
        """Whether the request goes on with a conversation that the server keeps."""

    def tool_names(self, body: Body) -> list[str]:
        """The names of the tools that a request offers, in order."""

    def read_response(self, parsed: Body) -> ResponseFacts:
        """Facts of a whole (not streamed) reply."""

    def read_stream(self) -> Stream:
        """A reader for one streamed reply."""

    def error(self, status: int, code: str, message: str) -> Body:
        """The body of an error, in the shape that the format's clients read."""

    def as_chat(self, body: Body) -> Body:
        """The request's conversation and tools in the form of Chat Completions; texts and calls only.

        A result that the format itself calls a failure has `is_error`, which Chat Completions lacks.
        """


_PROVIDERS_SEARCH = re.compile(r"web_?search|google_?search", re.IGNORECASE)


def provider_search(body: Body) -> list[str]:
    """The kinds of the tools with which a request lets the model's server search the web itself."""
    tools = [as_dict(tool) for tool in as_list(body.get("tools"))]
    kinds = [as_text(tool.get("type")) or "" for tool in tools if not tool.get("function")]
    return [kind for kind in kinds if _PROVIDERS_SEARCH.match(kind)]


def read_whole(wire: Format, body: bytes) -> ResponseFacts:
    """Facts of a whole reply from its bytes."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return ResponseFacts(error="the upstream's reply is not JSON")
    return wire.read_response(as_dict(parsed))


class StreamReader:
    """Cuts a stream of server-sent events, arriving in chunks of any size, into events for a `Stream`."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._line: list[bytes] = []  # pieces of a line whose end has not come yet
        self._data: list[bytes] = []
        self._done = False

    def feed(self, chunk: bytes) -> None:
        if b"\n" not in chunk:
            self._line.append(chunk)
            return
        *lines, rest = b"".join([*self._line, chunk]).split(b"\n")
        self._line = [rest]
        for line in lines:
            self._take(line.rstrip(b"\r"))

    def facts(self) -> ResponseFacts:
        """Called once, at the end: a last event may lack its blank line."""
        self.feed(b"\n\n")
        facts = self._stream.facts()
        facts.complete = facts.complete or self._done
        return facts

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].strip())
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            self._event(data)

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._done = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict):
            self._stream.event(event)


def compact(value: Any) -> str:
    """JSON as the common clients write it: no spaces, plain Unicode."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def openai_error(status: int, code: str, message: str) -> Body:
    """An error of Chat Completions and Responses. The type is one that no client tries again."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def said_error(error: Any) -> str | None:
    """An error that a reply carries, short; None when it carries none."""
    return compact(error)[:500] if error else None


def as_dict(value: Any) -> Body:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
