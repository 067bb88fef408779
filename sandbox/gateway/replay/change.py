"""The one thing that a fork has otherwise than its recording: a reply of the model, or what it is told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fieldmark.sandbox.gateway.conversation.said import plain_id
from fieldmark.sandbox.gateway.wire import requests
from fieldmark.sandbox.gateway.wire.common import Body, Format
from fieldmark.sandbox.gateway.wire.editing import with_picture, with_result
from fieldmark.trace import ModelResponse

Rewritten = tuple[str, Body]
"""The text of a request as it goes out, and what its event says of the change."""


@dataclass(frozen=True)
class ReplyChange:
    """`response` is given instead of the recorded one of the same call; its `forked` says what it changes."""

    response: ModelResponse

    def rewritten(self, wire: Format, whole: str, body: Body, pictures: set[str]) -> Rewritten | None:
        return None


@dataclass(frozen=True)
class ResultChange:
    """In every request the model is told `text` by the call with this id."""

    call: str
    text: str
    response: None = None

    def rewritten(self, wire: Format, whole: str, body: Body, pictures: set[str]) -> Rewritten | None:
        """`whole` is the request as it came, `pictures` the blobs of those in it."""
        items = with_result(
            wire, json.loads(whole), lambda name: plain_id(name) == plain_id(self.call), self.text
        )
        if items is None:
            return None
        return _text(wire, whole, items), {"change": "result", "call": self.call}


@dataclass(frozen=True)
class PictureChange:
    """Requests that offer these `tools`, as the one at the fork did, hold this picture."""

    data: bytes
    media_type: str
    blob: str
    tools: tuple[str, ...]
    response: None = None

    def rewritten(self, wire: Format, whole: str, body: Body, pictures: set[str]) -> Rewritten | None:
        """The picture is added where it is not there. `body` is the request without its pictures."""
        if self.blob in pictures or tuple(wire.tool_names(body)) != self.tools:
            return None
        items = with_picture(wire, json.loads(whole), self.data, self.media_type)
        return _text(wire, whole, items), {"change": "picture", "blob": self.blob}


Change = ReplyChange | ResultChange | PictureChange


def _text(wire: Format, whole: str, items: list[Any]) -> str:
    return requests.changed(whole, {wire.ITEMS: items})
