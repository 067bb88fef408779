"""The Responses format, for an agent that needs it: messages as they are sent, and the reply read."""

from __future__ import annotations

from typing import Any

from fieldmark.agents.messages import Message
from fieldmark.agents.reply import Reply
from fieldmark.chat import text_of

_FINISH = {"max_output_tokens": "length", "completed": "stop"}


def request(model: str, messages: list[Message], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of a request. `messages`: those of Chat Completions, rendered; system texts lead."""
    told = [str(message["content"]) for message in messages if message["role"] == "system"]
    said = [
        {"role": message["role"], "content": [_part(part) for part in message["content"]]}
        for message in messages
        if message["role"] != "system"
    ]
    return {"model": model, "instructions": "\n\n".join(told), "input": said, "tools": tools}


def read_responses(raw: dict[str, Any]) -> Reply:
    """The text of a whole reply; what cannot be read is empty. Calls of tools are not asked for here."""
    items = raw.get("output")
    said = [item for item in (items if isinstance(items, list) else []) if isinstance(item, dict)]
    parts = [part for item in said if item.get("type") == "message" for part in _parts(item)]
    details = raw.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    word = str(reason or raw.get("status") or "")
    return Reply(
        text="".join(text_of([part], "output_text", "text") for part in parts),
        reasoning="\n".join(text_of(item.get("summary")) for item in said if item.get("type") == "reasoning"),
        tool_calls=[],
        finish=_FINISH.get(word, word) or None,
        raw=raw,
        refusal=" ".join(str(part["refusal"]) for part in parts if part.get("refusal")),
    )


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"]}
    return {"type": "input_text", "text": part["text"]}


def _parts(item: dict[str, Any]) -> list[dict[str, Any]]:
    content = item.get("content")
    if isinstance(content, str):
        return [{"type": "output_text", "text": content}]
    return [part for part in (content if isinstance(content, list) else []) if isinstance(part, dict)]
