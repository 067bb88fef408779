"""From the messages an agent keeps to those that are sent: which pictures go out, and as what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fieldmark.agents.messages import Message, Part, is_picture, text_part
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.reply import is_object
from fieldmark.tools.arguments import parsed, readable

if TYPE_CHECKING:
    from fieldmark.task import Prompt

TOOL_PICTURES = 5
"""Pictures of tools in one request, the newest; with the task's own that makes six. Older become text."""

FRUGAL_SIDE = 1024
"""Longer side (pixels) of the task picture after a model's server refused a request as too large."""


class Wire:
    """Renders the conversation of one episode. `frugal`: the task picture alone, made smaller. `most`:
    pictures beside the task's that go out at once.
    """

    def __init__(self, prompt: Prompt, pictures: Pictures, most: int = TOOL_PICTURES) -> None:
        self.frugal = False
        self._most = most
        self._prompt = prompt
        self._pictures = pictures

    def render(self, messages: list[Message]) -> list[Message]:
        """Pictures as data URIs or text stubs, broken arguments of earlier calls as valid JSON."""
        shown = self._shown(messages)
        return [self._message(message, shown) for message in messages]

    def _shown(self, messages: list[Message]) -> set[int]:
        """The `id()` of each picture part that goes out as a picture."""
        if not self._prompt.sees:
            return set()
        parts = [part for message in messages for part in _parts(message) if is_picture(part)]
        own = [id(part) for part in parts if self._is_task_picture(part)][:1]
        others = [id(part) for part in parts if id(part) not in own]
        return {*own, *([] if self.frugal else others[-self._most :])}

    def _message(self, message: Message, shown: set[int]) -> Message:
        wire = dict(message)
        if _parts(message):
            wire["content"] = [self._part(part, shown) for part in _parts(message)]
        if message.get("tool_calls"):
            wire["tool_calls"] = [_sound(call) for call in message["tool_calls"]]
        return wire

    def _part(self, part: Part, shown: set[int]) -> Part:
        if not is_picture(part):
            return part
        if id(part) in shown:
            return {"type": "image_url", "image_url": {"url": self._uri(part)}}
        return text_part(_stub(part, sees=self._prompt.sees))

    def _uri(self, part: Part) -> str:
        if self.frugal and self._is_task_picture(part):
            return self._pictures.small_view(FRUGAL_SIDE)
        return self._pictures.data_uri(part)

    def _is_task_picture(self, part: Part) -> bool:
        return bool(part["blob"] == self._prompt.view.blob)


def _parts(message: Message) -> list[Part]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _stub(part: Part, *, sees: bool) -> str:
    size = f"{part['width']}x{part['height']}"
    if not sees:
        return f"[a picture of {size} pixels, not shown: this model takes no pictures]"
    where = f" (box {part['box']})" if part.get("box") else ""
    return f"[a picture of {size} pixels{where}, no longer shown; call the tool again to see it]"


def _sound(call: dict[str, Any]) -> dict[str, Any]:
    """A call of the history with arguments that parse: chat templates of several servers insist on it."""
    function = call["function"]
    text = function["arguments"] or "{}"
    if not is_object(text):
        text = json.dumps(parsed(text) if readable(text) else {"malformed": text}, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}
