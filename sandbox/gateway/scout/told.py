"""A conversation that a framework keeps as text: smolagents tells calls and results in plain messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any


def told_calls(messages: list[dict[str, Any]], text: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Name, arguments and result of each call. `text` reads the text of a message."""
    for message, after in pairwise(messages):
        told = re.fullmatch(r"Calling tools:\s*(\[.*\])\s*", text(message), re.DOTALL)
        if message.get("role") != "assistant" or told is None:
            continue
        for function in _functions(told[1]):
            name, arguments = function.get("name"), function.get("arguments")
            if isinstance(name, str) and isinstance(arguments, dict):
                yield name, arguments, text(after)


def _functions(written: str) -> list[dict[str, Any]]:
    """The calls of a list as Python writes it."""
    try:
        calls = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    found = [call.get("function") for call in calls if isinstance(call, dict)]
    return [function for function in found if isinstance(function, dict)]
