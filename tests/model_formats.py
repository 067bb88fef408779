"""How the scripted model server writes a reply in each wire format, whole and as events.

Written apart from the gateway's own code, which is tested against it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.model_server import Call, Reply

Body = dict[str, Any]
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")


def whole(path: str, model: str, reply: Reply) -> Body:
    """The reply as one object."""
    write = {PATHS[0]: _chat, PATHS[1]: _responses, PATHS[2]: _messages}[path]
    return write(model, reply)


def events(path: str, model: str, reply: Reply) -> Iterator[bytes]:
    """The reply as server-sent events, the text word by word, the arguments of a call in two halves."""
    if path == PATHS[0]:
        for event in _chat_events(model, reply):
            yield f"data: {json.dumps(event)}\n\n".encode()
        yield b"data: [DONE]\n\n"
        return
    for event in (_response_events if path == PATHS[1] else _message_events)(model, reply):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _halves(call: Call) -> tuple[str, str]:
    text = _arguments(call)
    return text[: len(text) // 2], text[len(text) // 2 :]


def _words(text: str | None) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text or "")


def _id(call: Call, number: int) -> str:
    return call.id or f"c{number}"


# --- Chat Completions -----------------------------------------------------------------------------


def _chat(model: str, reply: Reply) -> Body:
    message: Body = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": _id(call, n),
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call)},
            }
            for n, call in enumerate(reply.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _chat_finish(reply)}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}
    return body if reply.usage is None else {**body, "usage": reply.usage}


def _chat_finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _chat_events(model: str, reply: Reply) -> Iterator[Body]:
    deltas: list[Body] = [{"role": "assistant"}]
    deltas += [{"reasoning_content": word} for word in _words(reply.reasoning)]
    deltas += [{"content": word} for word in _words(reply.text)]
    for n, call in enumerate(reply.calls):
        first, second = _halves(call)
        head = {"name": call.name, "arguments": first}
        deltas.append(
            {"tool_calls": [{"index": n, "id": _id(call, n), "type": "function", "function": head}]}
        )
        deltas.append({"tool_calls": [{"index": n, "function": {"arguments": second}}]})
    steps: list[Body] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    steps.append({"choices": [{"index": 0, "delta": {}, "finish_reason": _chat_finish(reply)}]})
    if reply.usage is not None:
        steps.append({"choices": [], "usage": reply.usage})
    for step in steps:
        yield {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": model, **step}


# --- Responses ------------------------------------------------------------------------------------


def _responses(model: str, reply: Reply) -> Body:
    output: list[Body] = []
    if reply.reasoning:
        output.append({"type": "reasoning", "id": "rs", "summary": [{"text": reply.reasoning}]})
    if reply.text is not None:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        output.append(
            {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": content}
        )
    for n, call in enumerate(reply.calls):
        names = {"call_id": _id(call, n), "name": call.name, "arguments": _arguments(call)}
        output.append({"type": "function_call", "id": f"fc{n}", "status": "completed", **names})
    cut_short = reply.finish == "length"
    return {
        "id": "resp_1", "object": "response", "created_at": 0, "model": model, "output": output,
        "status": "incomplete" if cut_short else "completed", "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut_short else None,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": _other_usage(reply),
    }  # fmt: skip


def _other_usage(reply: Reply) -> Body | None:
    """Usage as Responses and Messages name it."""
    if reply.usage is None:
        return None
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
    return {names.get(key, key): value for key, value in reply.usage.items()}


def _response_events(model: str, reply: Reply) -> Iterator[Body]:
    done = _responses(model, reply)
    yield {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}}
    for index, item in enumerate(done["output"]):
        where = {"output_index": index, "item_id": item["id"]}
        begun = {**item, "content": []} if "content" in item else {**item, "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        if item["type"] == "message":
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **where, "content_index": 0, "part": empty}
            for word in _words(reply.text):
                yield {"type": "response.output_text.delta", **where, "content_index": 0, "delta": word}
        if item["type"] == "function_call":
            middle = len(item["arguments"]) // 2
            for half in (item["arguments"][:middle], item["arguments"][middle:]):
                yield {"type": "response.function_call_arguments.delta", **where, "delta": half}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{done['status']}", "response": done}


# --- Messages -------------------------------------------------------------------------------------


def _messages(model: str, reply: Reply) -> Body:
    content: list[Body] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2ln"})
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    for n, call in enumerate(reply.calls):
        arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
        content.append({"type": "tool_use", "id": _id(call, n), "name": call.name, "input": arguments})
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": _stop_reason(reply), "stop_sequence": None, "usage": _other_usage(reply),
    }  # fmt: skip


def _stop_reason(reply: Reply) -> str:
    return {"length": "max_tokens"}.get(reply.finish or "", "tool_use" if reply.calls else "end_turn")


def _message_events(model: str, reply: Reply) -> Iterator[Body]:
    streamed = [*_streamed_blocks(reply)]
    done = _messages(model, reply) if all(_is_json(call) for call in reply.calls) else {"model": model}
    usage = _other_usage(reply)
    begun = usage and {**usage, "output_tokens": 1}
    yield {"type": "message_start", "message": {**done, "content": [], "stop_reason": None, "usage": begun}}
    yield {"type": "ping"}
    for index, (block, deltas) in enumerate(streamed):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield {
        "type": "message_delta",
        "delta": ended,
        "usage": usage and {"output_tokens": usage["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _streamed_blocks(reply: Reply) -> Iterator[tuple[Body, list[Body]]]:
    if reply.reasoning:
        thoughts: list[Body] = [
            {"type": "thinking_delta", "thinking": word} for word in _words(reply.reasoning)
        ]
        yield (
            {"type": "thinking", "thinking": "", "signature": ""},
            [*thoughts, {"type": "signature_delta", "signature": "c2ln"}],
        )
    if reply.text is not None:
        yield (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": word} for word in _words(reply.text)],
        )
    for n, call in enumerate(reply.calls):
        block = {"type": "tool_use", "id": _id(call, n), "name": call.name, "input": {}}
        yield block, [{"type": "input_json_delta", "partial_json": half} for half in _halves(call)]


def _is_json(call: Call) -> bool:
    try:
        json.loads(_arguments(call))
    except ValueError:
        return False
    return True
