"""The messages of a request as a person reads them, whatever its wire format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from fieldmark.blobs import BlobStore
from fieldmark.evals.inspector.telling import as_json
from fieldmark.trace import ModelRequest

_PICTURE = re.compile(r"blob:([0-9a-f]{64})")
_INSIDE = (
    "reasoning_content", "reasoning", "thinking", "text", "content", "image_url", "url", "source", "data",
    "output", "summary",
)  # fmt: skip
"""Where formats put what is said or shown, in the order of reading."""
_QUIET = frozenset({"role", "type", "media_type", "detail", "cache_control", "signature"})
"""Fields that say nothing to a reader beside what is shown."""


@dataclass(frozen=True)
class Part:
    """`value` is a text, the sha256 of a picture, or indented JSON of whatever is neither."""

    kind: Literal["text", "picture", "json"]
    value: str


@dataclass(frozen=True)
class Message:
    """`role` as the format says it; `blob` is the sha256 of the message as it is stored."""

    role: str
    blob: str
    parts: list[Part]


def messages(event: ModelRequest, blobs: BlobStore) -> list[Message]:
    """The system prompt, where it stands apart, and each message in order. A lost blob is said so."""
    system = [message(event.system, blobs, "system")] if event.system else []
    return [*system, *(message(digest, blobs) for digest in event.messages)]


def tool_list(event: ModelRequest, blobs: BlobStore) -> list[tuple[str, str]]:
    """(name, its definition as JSON) of each tool that was offered; "" where no definition is stored."""
    stored = _load(event.tools_blob, blobs) if event.tools_blob else None
    defined = stored if isinstance(stored, list) else []
    if len(defined) != len(event.tools):
        return [(name, "") for name in event.tools]
    return [(name, as_json(tool)) for name, tool in zip(event.tools, defined, strict=True)]


def message(digest: str, blobs: BlobStore, role: str = "") -> Message:
    """A stored message, of this `role` or of its own. A lost blob is said so."""
    stored = _load(digest, blobs)
    told = stored if isinstance(stored, dict) else {}
    said = role or str(told.get("role") or told.get("type") or "?")
    return Message(said, digest, list(_parts(stored)))


def _load(digest: str, blobs: BlobStore) -> Any:
    try:
        return json.loads(blobs.get_text(digest))
    except (KeyError, OSError, ValueError, RecursionError):
        return f"(blob {digest} is not there or cannot be read)"


def _parts(value: Any, depth: int = 0) -> Iterator[Part]:
    if isinstance(value, str):
        picture = _PICTURE.fullmatch(value)
        if value:
            yield Part("picture", picture[1]) if picture else Part("text", value)
    elif isinstance(value, list) and depth < 8:
        for item in value:
            yield from _parts(item, depth + 1)
    elif isinstance(value, dict) and depth < 8:
        for name in _INSIDE:
            yield from _parts(value.get(name), depth + 1)
        rest = {key: item for key, item in value.items() if key not in _QUIET and key not in _INSIDE and item}
        if rest:
            yield Part("json", as_json(rest))
    elif value is not None:
        yield Part("json", as_json(value))
