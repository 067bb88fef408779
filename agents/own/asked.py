"""Asked and Model: what an agent of the user's own is asked, and the run's model to think with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.agents.messages import Message, picture_part, task_message, text_part, user
from fieldmark.agents.model import ChatModel
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.relay import DEFAULT_PORT
from fieldmark.agents.reply import Reply
from fieldmark.client import GatewayClient
from fieldmark.task import Prompt
from fieldmark.tools.read_skill import skill_list

if TYPE_CHECKING:
    from fieldmark.agents.own.tools import Tools


class Model:
    """The run's model. `sees` is whether it takes pictures.

    `base_url` is an OpenAI-compatible server inside the container, for programs that speak HTTP themselves;
    no key is needed, any will do.
    """

    def __init__(self, prompt: Prompt, gateway: GatewayClient, pictures: Pictures) -> None:
        self.name = prompt.model
        self.sees = prompt.sees
        self.base_url = f"http://127.0.0.1:{os.environ.get('FIELDMARK_RELAY_PORT') or DEFAULT_PORT}/v1"
        self._chat = ChatModel(gateway, prompt, pictures)

    def chat(
        self, messages: str | Sequence[Message], tools: Tools | Sequence[dict[str, Any]] | None = None
    ) -> Reply:
        """One model call: a text, or messages in the Chat Completions format, and the tools it may call.

        The reply has `text`, `tool_calls` and `message`, which is what the conversation goes on with. When
        the episode's calls are used up, or the model's server refuses, an AgentStopped ends the episode.
        """
        said = [user(text_part(messages))] if isinstance(messages, str) else list(messages)
        return self._chat.chat(said, _schemas(tools))


class Asked:
    """The question and its picture.

    `picture` is the file of the view, which models are shown; `width` and `height` are pixels of the
    original, in which tools give and, where `space` is "pixel", take boxes. `notes` are remarks on the
    picture and from earlier episodes; `skills` lists the skills that are on, "" without any.
    """

    def __init__(self, prompt: Prompt, gateway: GatewayClient, pictures: Pictures, picture: Path) -> None:
        self.question = prompt.question
        self.language = prompt.language
        self.notes = [*prompt.picture_notes, *prompt.notes]
        self.skills = skill_list(prompt.skills) if prompt.skills and "read_skill" in prompt.tools else ""
        self.picture = picture
        self.width, self.height = prompt.image.width, prompt.image.height
        self.space = prompt.space
        self.limits = prompt.limits
        self.model = Model(prompt, gateway, pictures)
        self._prompt = prompt
        self._pictures = pictures

    def picture_bytes(self) -> bytes:
        """The view, a PNG or JPEG."""
        return self.picture.read_bytes()

    def picture_uri(self) -> str:
        """The view as a `data:` URI, as models take pictures."""
        return self._pictures.data_uri(picture_part(self._prompt.view))

    def message(self) -> Message:
        """The picture, the notes and the question, as the first message of a user."""
        return task_message(self._prompt)


def _schemas(tools: Tools | Sequence[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    if tools is None:
        return None
    schemas: list[dict[str, Any]] = getattr(tools, "schemas", None) or [
        tool if isinstance(tool, dict) else tool.schema for tool in tools
    ]
    return schemas or None
