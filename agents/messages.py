"""The messages an agent keeps: Chat Completions messages whose pictures are references, never bytes.

A picture part is `{"type": "picture", "blob", "media_type", "width", "height", "box"?, "scale"?}`; it
becomes a data URI only at the moment of sending (`fieldmark.agents.model`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.tools.pages.untrusted import untrusted

if TYPE_CHECKING:
    from fieldmark.task import Prompt
    from fieldmark.trace import CallRequest, Picture

Message = dict[str, Any]
Part = dict[str, Any]

_PROMPTS = Path(__file__).parent / "prompts"


def prompt_text(name: str) -> str:
    """The text of `agents/prompts/<name>.md`."""
    return (_PROMPTS / f"{name}.md").read_text(encoding="utf-8").strip()


def text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def picture_part(picture: Picture) -> Part:
    """A reference to a picture that the gateway has stored."""
    known = {name: value for name, value in vars(picture).items() if value is not None}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in known.items()}
    return {"type": "picture", **plain}


def is_picture(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "picture"


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(*parts: Part) -> Message:
    return {"role": "user", "content": list(parts)}


def assistant(text: str, calls: list[CallRequest]) -> Message:
    """What the model said; `content` is null beside tool calls without text, as the wire format has it."""
    message: Message = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    return message


def tool(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def notes_text(notes: Sequence[str]) -> str:
    """The notes of earlier episodes as every agent is shown them; "" without any."""
    if not notes:
        return ""
    listed = untrusted("\n".join(f"- {note}" for note in notes), "memory")
    return f"{prompt_text('notes')}\n{listed}\n\n"


def task_message(prompt: Prompt) -> Message:
    """The task as the first user message: its picture, notes of earlier episodes, the question."""
    remembered = notes_text(prompt.notes)
    about = f"About the picture: {'; '.join(prompt.picture_notes)}\n" if prompt.picture_notes else ""
    return user(picture_part(prompt.view), text_part(f"{remembered}{about}Question: {prompt.question}"))
