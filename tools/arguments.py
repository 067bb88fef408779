"""The arguments of a call as a model wrote them → one object."""

from __future__ import annotations

import json
import re
from typing import Any

from fieldmark.errors import ToolError

MAX_REPAIRED = 20_000
"""Characters; nobody means a longer call, and what is garbled at length takes long to read."""

_TOKEN = re.compile(
    r"""(?P<skip>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|//[^\n]*|/\*.*?(?:\*/|\Z)|[^"'{}\[\]/]+|/)"""
    r"""|(?P<open>[{\[])|(?P<close>[}\]])""",
    re.DOTALL,
)
_FENCE = re.compile(r"\s*```\w*\n(.*?)```\s*", re.DOTALL)
_AFTER = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)


def parsed(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The object; ToolError `invalid_args` when it cannot be read. Half a surrogate pair becomes "?".

    An object that is whole but written as small models do (single quotes, trailing commas, comments, bare
    keys, in a Markdown fence, as JSON in a JSON text) is repaired; one that was cut off is not: a call never
    runs on guessed arguments.
    """
    try:
        value = _loads(arguments if isinstance(arguments, str) else json.dumps(arguments))
        value = _loads(value) if isinstance(value, str) else value
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the arguments are not valid JSON: {error}", "invalid_args") from None
    if not isinstance(value, dict):
        raise ToolError(f"the arguments must be one JSON object, got {type(value).__name__}", "invalid_args")
    return value


def readable(arguments: str) -> bool:
    """Whether `parsed` takes them."""
    try:
        parsed(arguments)
    except ToolError:
        return False
    return True


def repaired(arguments: str | dict[str, Any]) -> bool:
    """Whether `parsed` takes them only after repair."""
    return isinstance(arguments, str) and not _is_plain(arguments) and readable(arguments)


def _loads(text: str) -> Any:
    fenced = _FENCE.fullmatch(text)
    text = fenced[1] if fenced else text
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError:
        if len(text) > MAX_REPAIRED or not _is_one_whole_object(text):
            raise
    import json_repair

    return json_repair.loads(text)


def _is_plain(text: str) -> bool:
    try:
        return isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def object_end(text: str, at: int = 0) -> int | None:
    """Where the `{…}` that begins at `at` ends, by its brackets and quotes; None when it does not."""
    depth = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:  # a quotation mark without its partner
            return None
        at = token.end()
        depth += (token["open"] is not None) - (token["close"] is not None)
        if depth == 0:
            return at
    return None


def _is_one_whole_object(text: str) -> bool:
    """Whether brackets and quotes pair up to one `{…}`, with nothing after it but remarks."""
    text = text.strip()
    end = object_end(text) if text.startswith("{") else None
    return end is not None and _AFTER.fullmatch(text, end) is not None
