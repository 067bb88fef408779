"""A model at a URL, asked by ourselves through the `openai` SDK."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from fieldmark.sandbox.gateway.endpoint import endpoint, public_url
from fieldmark.sandbox.gateway.wire import chat
from fieldmark.sandbox.gateway.wire.forcing import forced

if TYPE_CHECKING:
    from openai import OpenAI

PURPOSE = {"x-fieldmark-purpose": "preflight"}
"""A header of every request here, by which a server's log, or a scripted server, tells them from a run's."""
SECONDS = 60.0
"""What one request may take; a model that thinks takes its time."""
Part = dict[str, Any]


@dataclass(frozen=True)
class Model:
    """`name` at `base_url`, in any usual spelling. `force` are the run's own parameters, sent as in a run."""

    name: str
    base_url: str
    key_env: str
    force: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """Where its requests go, without what can hold a key."""
        return public_url(endpoint(self.base_url, chat.PATH))

    @property
    def key(self) -> str:
        return os.environ.get(self.key_env) or "none"

    @cached_property
    def client(self) -> OpenAI:
        import openai

        url = urlsplit(endpoint(self.base_url, ""))
        return openai.OpenAI(
            base_url=url._replace(query="").geturl(), default_query=dict(parse_qsl(url.query)),
            api_key=self.key, timeout=SECONDS, max_retries=1, default_headers=PURPOSE,
        )  # fmt: skip

    def ask(self, messages: list[Part] | str, **more: Any) -> Any:
        """One Chat Completions request; its whole reply, or its stream. Raises the SDK's errors."""
        said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        body = {"model": self.name, "messages": said, **more}
        return self.client.chat.completions.create(**{**body, **forced(chat, self.force, body)})


def shown(question: str, *pictures: bytes) -> Part:
    """A user message of PNG pictures and a question about them."""
    parts: list[Part] = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_encoded(picture)}"}}
        for picture in pictures
    ]
    return {"role": "user", "content": [*parts, {"type": "text", "text": question}]}


def text_of(reply: Any) -> str:
    """What a reply of Chat Completions says; "" where it says nothing."""
    choices = getattr(reply, "choices", None)
    return (choices[0].message.content or "") if choices else ""


def calls_of(reply: Any) -> list[tuple[str, str]]:
    """Name and raw arguments of each tool call of a reply."""
    choices = getattr(reply, "choices", None)
    calls = (choices[0].message.tool_calls or []) if choices else []
    return [(call.function.name, call.function.arguments) for call in calls if call.type == "function"]


def _encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode("ascii")
