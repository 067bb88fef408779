"""Text of strangers (models, pages, file names) as a page may print it."""

from __future__ import annotations

import re
from typing import Any

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which HTML forbids, and marks that turn the text after them around."""


def visible(text: str) -> str:
    """The text with a replacement character for each of these; tabs and ends of lines stay."""
    return _UNSEEN.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The same on one line, without half a surrogate pair."""
    return " ".join(visible(text).encode("utf-8", "replace").decode().split())


def seen(value: Any) -> Any:
    """What a template prints; Markup that it made itself has no such characters left."""
    return visible(value) if type(value) is str else value
