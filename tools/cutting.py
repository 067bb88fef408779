"""Texts cut to what an event may hold."""

from __future__ import annotations

import json


def cut_to_bytes(text: str, limit: int) -> str:
    """The longest beginning of `text` whose JSON takes at most `limit` bytes (escaped: at most 6 a unit)."""
    if json_bytes(text) <= limit:
        return text
    low, high = 0, min(len(text), limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if json_bytes(text[:middle]) <= limit else (low, middle - 1)
    return text[:low]


def json_bytes(text: str) -> int:
    """Bytes of a text as events are measured: everything beyond ASCII escaped, without the quotes."""
    return len(json.dumps(text)) - 2
