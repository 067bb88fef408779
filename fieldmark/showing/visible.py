"""Text of strangers on a terminal: none of it moves the cursor, hides, or turns the way of writing."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from fieldmark.evals.asking.request import shortened


def visible(text: str) -> str:
    """The text with its line ends; every other character that cannot be seen as `\\x1b` or `\\u202e`."""
    return "\n".join(map(_line, text.expandtabs(4).split("\n")))


def one_line(text: str, limit: int) -> str:
    """All white space as single spaces; without its middle where it is longer than `limit` characters."""
    if len(text) > 8 * limit:  # a huge text: its white space is not counted
        text = f"{text[: 4 * limit]} [… {len(text) - 8 * limit} characters …] {text[-4 * limit :]}"
    return visible(shortened(" ".join(text.split()), limit))


def as_json(value: Any) -> str:
    """One line of JSON for a terminal."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _line(text: str) -> str:
    return text if text.isprintable() else "".join(map(_character, text))


def _character(char: str) -> str:
    if char.isprintable():
        return char
    if unicodedata.category(char) == "Zs":  # other spaces: ideographic, no-break
        return " "
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
