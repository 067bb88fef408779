"""A request changed on its way to the model: the text of a call's result, a picture at its end."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from fieldmark.sandbox.gateway.wire import messages, responses
from fieldmark.sandbox.gateway.wire.common import Body, Format, as_dict

IsCall = Callable[[str], bool]
"""Whether an id is that of the call."""


def with_result(wire: Format, body: Body, is_call: IsCall, text: str) -> list[Any] | None:
    """The conversation of a request in which that call brought `text`, and nothing beside it in the same
    message; None when it holds no result of the call.
    """
    items = body.get(wire.ITEMS)
    if not isinstance(items, list):
        return None
    edited = [_EDITORS.get(wire.NAME, _chat)(item, is_call, text) for item in items]
    return edited if edited != items else None


def holds_result(wire: Format, body: Body, is_call: IsCall) -> bool:
    """Whether a request tells the model what that call brought."""
    return any(is_call(name) for item in body.get(wire.ITEMS) or [] for name in _results_of(wire, item))


def with_picture(wire: Format, body: Body, data: bytes, media_type: str) -> list[Any]:
    """The conversation of a request with a picture as the last thing that the user says."""
    items = body.get(wire.ITEMS)
    if not isinstance(items, list):  # Responses: one text
        items = [{"role": "user", "content": items or ""}]
    picture = _picture(wire, data, media_type)
    last = as_dict(items[-1]) if items else {}
    if last.get("role") != "user":
        return [*items, {"role": "user", "content": [picture]}]
    said = last.get("content")
    parts = said if isinstance(said, list) else [{"type": _text_type(wire), "text": said or ""}]
    return [*items[:-1], {**last, "content": [*parts, picture]}]


def _chat(item: Any, is_call: IsCall, text: str) -> Any:
    return {**item, "content": text} if any(map(is_call, _chat_results(item))) else item


def _responses(item: Any, is_call: IsCall, text: str) -> Any:
    return {**item, "output": text} if any(map(is_call, _responses_results(item))) else item


def _messages(item: Any, is_call: IsCall, text: str) -> Any:
    blocks = as_dict(item).get("content")
    if not isinstance(blocks, list):
        return item
    edited = [{**b, "content": text} if any(map(is_call, _block_results(b))) else b for b in blocks]
    return {**item, "content": edited}


_EDITORS = {responses.NAME: _responses, messages.NAME: _messages}


def _results_of(wire: Format, item: Any) -> list[str]:
    """The calls whose results an item of a conversation holds."""
    if wire.NAME == responses.NAME:
        return _responses_results(item)
    if wire.NAME != messages.NAME:
        return _chat_results(item)
    blocks = as_dict(item).get("content")
    return [name for block in blocks for name in _block_results(block)] if isinstance(blocks, list) else []


def _chat_results(item: Any) -> list[str]:
    message = as_dict(item)
    # some clients put the id of the call under `id`
    name = message.get("tool_call_id") or message.get("id")
    return [str(name)] if message.get("role") in ("tool", "function") and name else []


def _responses_results(item: Any) -> list[str]:
    kind, name = as_dict(item).get("type"), as_dict(item).get("call_id")
    return [str(name)] if isinstance(kind, str) and kind.endswith("_output") and name else []


def _block_results(block: Any) -> list[str]:
    name = as_dict(block).get("tool_use_id")
    return [str(name)] if as_dict(block).get("type") == "tool_result" and name else []


def _text_type(wire: Format) -> str:
    return "input_text" if wire.NAME == responses.NAME else "text"


def _picture(wire: Format, data: bytes, media_type: str) -> Body:
    encoded = base64.b64encode(data).decode()
    if wire.NAME == messages.NAME:
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": encoded},
        }
    uri = f"data:{media_type};base64,{encoded}"
    if wire.NAME == responses.NAME:
        return {"type": "input_image", "image_url": uri}
    return {"type": "image_url", "image_url": {"url": uri}}
