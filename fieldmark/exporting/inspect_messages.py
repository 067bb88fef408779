"""Conversations as Inspect AI's chat messages: each message once, pictures as attachments."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.exporting.conversation import Conversation, Done, Step
from fieldmark.trace import Picture, Tokens

Json = dict[str, Any]
_STOPS = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "max_tokens",
    "content_filter": "content_filter",
}
_ERRORS = {"invalid_args": "parsing", "timeout": "timeout", "denied": "permission"}


class Attachments:
    """`held`: 32 hex digits → data URI."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self.held: dict[str, str] = {}

    def content(self, text: str, pictures: Sequence[Picture]) -> str | list[Json]:
        """A text, or parts where there are pictures."""
        if not pictures:
            return text
        return [*([{"type": "text", "text": text}] if text else []), *map(self._part, pictures)]

    def _part(self, picture: Picture) -> Json:
        try:
            data = self._blobs.get(picture.blob)
        except (KeyError, OSError):
            return {"type": "text", "text": f"[picture {picture.blob[:12]}: not in this copy of the run]"}
        key = hashlib.sha256(data).hexdigest()[:32]
        self.held[key] = f"data:{picture.media_type};base64,{base64.b64encode(data).decode()}"
        return {"type": "image", "image": f"attachment://{key}"}


@dataclass(frozen=True)
class Spoken:
    """One step in messages: what the model was told, what it said, what its calls brought."""

    step: Step
    before: list[Json]
    reply: Json
    results: list[Json]


def spoken(conversation: Conversation, attachments: Attachments) -> Iterator[Spoken]:
    """The steps of a conversation, in order. Ids of messages are its own: a sub-agent's have its thread."""
    whose = f"{conversation.thread} " if conversation.thread else ""
    for number, step in enumerate(conversation.steps):
        before = [
            {
                "id": f"{whose}{number}.{place}",
                "role": "system" if said.system else "user",
                "content": attachments.content(said.text, said.pictures),
            }
            for place, said in enumerate(step.before)
        ]
        reply = {"id": f"{whose}{number}.reply", **_reply(step)}
        yield Spoken(step, before, reply, [_result(call, attachments) for call in step.calls if call.result])


def stop_reason(step: Step) -> str:
    """In Inspect's words."""
    return _STOPS.get(step.response.finish or "", "unknown")


def tool_error(call: Done) -> Json | None:
    """A ToolCallError; None of a call that went well."""
    result = call.result
    if result is None or result.ok:
        return None
    return {"type": _ERRORS.get(result.error_kind or "", "unknown"), "message": result.error or result.text}


def usage(tokens: Tokens | None) -> Json:
    """A ModelUsage, whose `input_tokens` leave out the cached ones; it knows no unknown, so that is 0."""
    known = tokens or Tokens()
    read, cached, written = known.input or 0, known.cached or 0, known.output or 0
    return {
        "input_tokens": max(0, read - cached), "output_tokens": written, "total_tokens": read + written,
        "input_tokens_cache_read": known.cached, "reasoning_tokens": known.reasoning,
    }  # fmt: skip


def _reply(step: Step) -> Json:
    response, thought = step.response, step.response.reasoning
    thinking = [{"type": "reasoning", "reasoning": thought}] if thought else []
    text = response.text or ""
    return {
        "role": "assistant",
        "content": [*thinking, {"type": "text", "text": text}] if thinking else text,
        "tool_calls": [_call(call) for call in step.calls] or None,
        "source": "generate",
        "model": step.request.model,
        "metadata": {"event": response.seq, "finish": stop_reason(step)},
    }


def _call(call: Done) -> Json:
    unread = {} if call.readable else {"parse_error": "the arguments are no JSON object"}
    return {"id": call.id, "function": call.name, "arguments": call.arguments, "type": "function", **unread}


def _result(call: Done, attachments: Attachments) -> Json:
    result, error = call.result, tool_error(call)
    assert result is not None
    return {
        "id": f"result {result.seq}",
        "role": "tool",
        "tool_call_id": call.id,
        "function": call.name,
        "content": attachments.content(result.text, result.pictures),
        "metadata": {"event": result.seq, "seconds": result.seconds, "error_kind": result.error_kind},
        **({"error": error} if error else {}),
    }
