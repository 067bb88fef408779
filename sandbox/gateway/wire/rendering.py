"""A reply written in each wire format, whole or as a stream: what built-in models answer with."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fieldmark.sandbox.gateway.wire import chat, messages, responses
from fieldmark.sandbox.gateway.wire.common import Body, Format, compact
from fieldmark.trace import CallRequest

Event = tuple[str | None, Body | str]
"""The name of a server-sent event, where the format gives one, and its data."""


@dataclass(frozen=True)
class Said:
    """What a model says. It reports that it used no tokens: there are none behind it."""

    model: str
    text: str | None = None
    tool_calls: list[CallRequest] = field(default_factory=list)


def render(wire: Format, said: Said) -> bytes:
    """The whole reply."""
    return compact(_WRITERS[wire.NAME][0](said)).encode()


def render_stream(wire: Format, said: Said) -> Iterator[bytes]:
    """The reply as server-sent events, one a chunk."""
    for name, data in _WRITERS[wire.NAME][1](said):
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {data if isinstance(data, str) else compact(data)}\n\n".encode()


def call_id() -> str:
    """A name for a call that no other call of the conversation has."""
    return f"call_{uuid.uuid4().hex[:12]}"


def _chat(said: Said) -> Body:
    message: Body = {"role": "assistant", "content": said.text}
    if said.tool_calls:
        message["tool_calls"] = [_chat_call(call) for call in said.tool_calls]
    return _chat_envelope(said, "chat.completion", {"message": message, "finish_reason": _finish(said)})


def _chat_events(said: Said) -> Iterator[Event]:
    delta: Body = {"role": "assistant", "content": said.text}
    if said.tool_calls:
        delta["tool_calls"] = [{"index": n, **_chat_call(call)} for n, call in enumerate(said.tool_calls)]
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": _finish(said)}):
        yield None, _chat_envelope(said, "chat.completion.chunk", choice)
    yield None, "[DONE]"


def _chat_call(call: CallRequest) -> Body:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_envelope(said: Said, kind: str, choice: Body) -> Body:
    return {
        "id": _id("chatcmpl"), "object": kind, "created": int(time.time()), "model": said.model,
        "choices": [{"index": 0, **choice}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }  # fmt: skip


def _finish(said: Said) -> str:
    return "tool_calls" if said.tool_calls else "stop"


def _responses(said: Said) -> Body:
    return {
        "id": _id("resp"), "object": "response", "created_at": int(time.time()), "status": "completed",
        "model": said.model, "output": [*_response_items(said)], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "temperature": None, "top_p": None,
        "usage": {
            "input_tokens": 0, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0,
        },
    }  # fmt: skip


def _response_items(said: Said) -> Iterator[Body]:
    if said.text is not None:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        yield {
            "type": "message",
            "id": _id("msg"),
            "status": "completed",
            "role": "assistant",
            "content": content,
        }
    for call in said.tool_calls:
        names = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        yield {"type": "function_call", "id": _id("fc"), "status": "completed", **names}


def _response_events(said: Said) -> Iterator[Event]:
    whole = _responses(said)
    events: list[Body] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(whole["output"]):
        events += _item_events(index, item)
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _item_events(index: int, item: Body) -> Iterator[Body]:
    where = {"output_index": index, "item_id": item["id"]}
    is_text = item["type"] == "message"
    empty: Body = {"content": []} if is_text else {"arguments": ""}
    begun = {**item, "status": "in_progress", **empty}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if is_text:
        part, where = item["content"][0], {**where, "content_index": 0}
        yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **where, "delta": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **where, "part": part}
    else:
        yield {"type": "response.function_call_arguments.delta", **where, "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **where, "arguments": item["arguments"]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _messages(said: Said) -> Body:
    return {
        "id": _id("msg"), "type": "message", "role": "assistant", "model": said.model,
        "content": [block for block, _ in _blocks(said)],
        "stop_reason": "tool_use" if said.tool_calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }  # fmt: skip


def _blocks(said: Said) -> Iterator[tuple[Body, Body]]:
    """Each block of the content, and the one delta that fills it."""
    if said.text is not None:
        yield {"type": "text", "text": said.text}, {"type": "text_delta", "text": said.text}
    for call in said.tool_calls:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        yield block, {"type": "input_json_delta", "partial_json": call.arguments}


def _message_events(said: Said) -> Iterator[Event]:
    whole = _messages(said)
    start = {**whole, "content": [], "stop_reason": None}
    events: list[Body] = [{"type": "message_start", "message": start}]
    for index, (block, delta) in enumerate(_blocks(said)):
        empty: Body = {"text": ""} if block["type"] == "text" else {"input": {}}
        events += [
            {"type": "content_block_start", "index": index, "content_block": {**block, **empty}},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ended, "usage": {"input_tokens": 0, "output_tokens": 0}},
        {"type": "message_stop"},
    ]
    for event in events:
        yield event["type"], event


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"


_WRITERS: dict[str, tuple[Callable[[Said], Body], Callable[[Said], Iterator[Event]]]] = {
    chat.NAME: (_chat, _chat_events),
    responses.NAME: (_responses, _response_events),
    messages.NAME: (_messages, _message_events),
}
