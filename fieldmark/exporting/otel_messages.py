"""Messages as the GenAI conventions have them: JSON in an attribute, pictures by the name of their blob."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fieldmark.exporting.conversation import Said, Step
from fieldmark.trace import Picture

Json = dict[str, Any]


def asked(step: Step) -> dict[str, str | None]:
    """What was new in the request: the system's words, and those of the user."""
    system = [part for said in step.before if said.system for part in _parts(said)]
    users = [{"role": "user", "parts": _parts(said)} for said in step.before if not said.system]
    return {
        "gen_ai.system_instructions": as_text(system) if system else None,
        "gen_ai.input.messages": as_text(users) if users else None,
    }


def replied(step: Step) -> str:
    """The one message of the reply."""
    response = step.response
    parts: list[Json] = []
    if response.reasoning:
        parts.append({"type": "reasoning", "content": response.reasoning})
    if response.text:
        parts.append({"type": "text", "content": response.text})
    for call in step.calls:
        parts.append({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    return as_text([{"role": "assistant", "parts": parts, "finish_reason": response.finish or "error"}])


def as_text(value: Any) -> str:
    """As JSON, as attributes have what is structured."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _parts(said: Said) -> Sequence[Json]:
    text = [{"type": "text", "content": said.text}] if said.text else []
    return [*text, *map(_picture, said.pictures)]


def _picture(picture: Picture) -> Json:
    uri = f"blob:{picture.blob}"
    return {"type": "uri", "modality": "image", "mime_type": picture.media_type, "uri": uri}
