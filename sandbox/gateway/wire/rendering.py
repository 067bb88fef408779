"""A reply written in each wire format, whole or as a stream: what built-in and replayed models say."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fieldmark.sandbox.gateway.wire import chat, messages, responses
from fieldmark.sandbox.gateway.wire.common import Body, Format, as_dict, compact
from fieldmark.sandbox.gateway.wire.usage import chat_usage, message_usage, response_usage
from fieldmark.trace import CallRequest, Tokens

Event = tuple[str | None, Body | str]
"""The name of a server-sent event, where the format gives one, and its data."""


@dataclass(frozen=True)
class Said:
    """What a model says. `key` names the reply: the ids in it are made of that, so that they repeat.

    `finish` is a word of Chat Completions; None: `tool_calls` where there are some, else `stop`. `tokens`
    None: the reply does not say. `custom` are the tools whose calls carry plain text (Responses).
    """

    model: str
    key: str
    text: str | None = None
    tool_calls: list[CallRequest] = field(default_factory=list)
    reasoning: str | None = None
    finish: str | None = None
    tokens: Tokens | None = None
    custom: frozenset[str] = frozenset()

    @property
    def end(self) -> str:
        return self.finish or ("tool_calls" if self.tool_calls else "stop")


def render(wire: Format, said: Said) -> bytes:
    """The whole reply."""
    return compact(_WRITERS[wire.NAME][0](said)).encode()


def render_stream(wire: Format, said: Said) -> Iterator[bytes]:
    """The reply as server-sent events, one a chunk."""
    for name, data in _WRITERS[wire.NAME][1](said):
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {data if isinstance(data, str) else compact(data)}\n\n".encode()


def call_id(key: str, number: int) -> str:
    """A name for a call that no other call of the conversation has; `key` is the reply's."""
    return f"call_{_hash(f'{key}/{number}')[:12]}"


# -- Chat Completions ------------------------------------------------------------------------------


def _chat(said: Said) -> Body:
    message: Body = {"role": "assistant", "content": said.text, **_chat_reasoning(said)}
    if said.tool_calls:
        message["tool_calls"] = [_chat_call(call) for call in said.tool_calls]
    return _chat_envelope(said, "chat.completion", {"message": message, "finish_reason": said.end})


def _chat_events(said: Said) -> Iterator[Event]:
    delta: Body = {"role": "assistant", "content": said.text, **_chat_reasoning(said)}
    if said.tool_calls:
        delta["tool_calls"] = [{"index": n, **_chat_call(call)} for n, call in enumerate(said.tool_calls)]
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": said.end}):
        yield None, _chat_envelope(said, "chat.completion.chunk", choice)
    yield None, "[DONE]"


def _chat_reasoning(said: Said) -> Body:
    return {"reasoning_content": said.reasoning} if said.reasoning else {}


def _chat_call(call: CallRequest) -> Body:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_envelope(said: Said, kind: str, choice: Body) -> Body:
    return {
        "id": _id("chatcmpl", said), "object": kind, "created": int(time.time()), "model": said.model,
        "choices": [{"index": 0, **choice}], **chat_usage(said.tokens),
    }  # fmt: skip


# -- Responses -------------------------------------------------------------------------------------

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def _responses(said: Said) -> Body:
    reason = _INCOMPLETE.get(said.end)
    return {
        "id": _id("resp", said), "object": "response", "created_at": int(time.time()),
        "status": "incomplete" if reason else "completed", "model": said.model,
        "output": [*_response_items(said)], "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "temperature": None, "top_p": None, "usage": response_usage(said.tokens),
    }  # fmt: skip


def _response_items(said: Said) -> Iterator[Body]:
    if said.reasoning:
        summary = [{"type": "summary_text", "text": said.reasoning}]
        yield {"type": "reasoning", "id": _id("rs", said), "summary": summary}
    if said.text is not None:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        names = {"id": _id("msg", said), "status": "completed", "role": "assistant"}
        yield {"type": "message", **names, "content": content}
    for number, call in enumerate(said.tool_calls):
        kind, given = (
            ("custom_tool_call", "input") if call.name in said.custom else ("function_call", "arguments")
        )
        names = {"call_id": call.id, "name": call.name, given: call.arguments}
        yield {"type": kind, "id": _id("fc", said, number), "status": "completed", **names}


def _response_events(said: Said) -> Iterator[Event]:
    whole = _responses(said)
    events: list[Body] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(whole["output"]):
        events += _item_events(index, item)
    events.append({"type": f"response.{whole['status']}", "response": whole})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


_EMPTY: dict[str, Body] = {
    "message": {"content": []},
    "reasoning": {"summary": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}


def _item_events(index: int, item: Body) -> Iterator[Body]:
    kind, where = item["type"], {"output_index": index, "item_id": item["id"]}
    begun = {**item, **({"status": "in_progress"} if "status" in item else {}), **_EMPTY[kind]}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if kind == "message":
        part, where = item["content"][0], {**where, "content_index": 0}
        yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **where, "delta": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **where, "part": part}
    elif kind == "function_call":
        yield {"type": "response.function_call_arguments.delta", **where, "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **where, "arguments": item["arguments"]}
    elif kind == "custom_tool_call":
        yield {"type": "response.custom_tool_call_input.delta", **where, "delta": item["input"]}
        yield {"type": "response.custom_tool_call_input.done", **where, "input": item["input"]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


# -- Messages --------------------------------------------------------------------------------------

_STOP = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def _messages(said: Said) -> Body:
    return {
        "id": _id("msg", said), "type": "message", "role": "assistant", "model": said.model,
        "content": [block for block, _ in _blocks(said)],
        "stop_reason": _STOP.get(said.end, said.end), "stop_sequence": None, **message_usage(said.tokens),
    }  # fmt: skip


def _blocks(said: Said) -> Iterator[tuple[Body, Body]]:
    """Each block of the content, and the one delta that fills it."""
    if said.reasoning:
        block: Body = {"type": "thinking", "thinking": said.reasoning, "signature": ""}
        yield block, {"type": "thinking_delta", "thinking": said.reasoning}
    if said.text is not None:
        yield {"type": "text", "text": said.text}, {"type": "text_delta", "text": said.text}
    for call in said.tool_calls:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call.arguments)}
        yield block, {"type": "input_json_delta", "partial_json": call.arguments}


_UNFILLED: dict[str, Body] = {"text": {"text": ""}, "thinking": {"thinking": ""}, "tool_use": {"input": {}}}


def _message_events(said: Said) -> Iterator[Event]:
    whole = _messages(said)
    start = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": 0, "output_tokens": 0}}
    events: list[Body] = [{"type": "message_start", "message": start}]
    for index, (block, delta) in enumerate(_blocks(said)):
        events += [
            {
                "type": "content_block_start",
                "index": index,
                "content_block": block | _UNFILLED[block["type"]],
            },
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ended, **message_usage(said.tokens)},
        {"type": "message_stop"},
    ]
    for event in events:
        yield event["type"], event


def _object(arguments: str) -> Body:
    """The arguments of a call; what is no object of JSON cannot be said whole in Messages, only streamed."""
    try:
        return as_dict(json.loads(arguments))
    except (ValueError, RecursionError):
        return {}


def _id(kind: str, said: Said, number: int = 0) -> str:
    return f"{kind}_{_hash(f'{kind}/{said.key}/{number}')[:24]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_WRITERS: dict[str, tuple[Callable[[Said], Body], Callable[[Said], Iterator[Event]]]] = {
    chat.NAME: (_chat, _chat_events),
    responses.NAME: (_responses, _response_events),
    messages.NAME: (_messages, _message_events),
}
