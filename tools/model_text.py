"""What stands in a model's text: its thinking, a fence, JSON objects whole or broken. Nothing is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fieldmark.tools.arguments import MAX_REPAIRED, object_end

_MAX_STARTS = 200
"""Places of a text where an object may begin that are tried; bounds the work on garbage."""
_MAX_REPAIRS = 20
_MAX_BRACES = 200
"""What is tried to be mended, and how much may stand in it: the time grows with the square."""
_CLOSE = re.compile(r"</think(?:ing)?>|◁/think▷", re.IGNORECASE)
_OPEN = re.compile(r"<think(?:ing)?>|◁think▷", re.IGNORECASE)
_FENCE = re.compile(r"^(?:```|~~~)[\w-]*\n(.*?)\n?(?:```|~~~)$", re.DOTALL)
_BEGINS = re.compile(r"\{\s*(?:[\"'}]|[A-Za-z_]\w*\s*:)")


class FoundObject(NamedTuple):
    """A JSON object. `repaired`: it was not quite JSON; `cut`: its end is missing."""

    value: dict[str, Any]
    repaired: bool = False
    cut: bool = False


def without_thinking(text: str) -> str:
    """The text after the last `</think>` (its opening may be in the prompt), or before an open `<think>`."""
    after = _CLOSE.split(text)[-1]
    return _OPEN.split(after)[0].strip()


def without_fence(text: str) -> str:
    """What a Markdown fence holds, when it is all of the text."""
    match = _FENCE.match(text)
    return match[1].strip() if match else text


def whole_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object of a text that needs no repair, in order; raw newlines do no harm."""
    at = text.find("{")
    for _ in range(_MAX_STARTS):
        if at < 0:
            return
        found, end = _whole(text, at)
        if found:
            yield found.value
        at = text.find("{", end)


def objects_in(text: str) -> list[FoundObject]:
    """Every outermost JSON object of a text, in order, fences and prose around them or not.

    An object as small models write it (single quotes, bare keys, trailing commas, comments, bad escapes, raw
    newlines) is repaired. One whose end is missing is read as far as it goes. Thinking is not left out.
    """
    return list(_objects(text))


def _objects(text: str) -> Iterator[FoundObject]:
    at, repairs = text.find("{"), 0
    for _ in range(_MAX_STARTS):
        if at < 0:
            return
        found, end = _whole(text, at)
        if found is None and repairs < _MAX_REPAIRS and _BEGINS.match(text, at):
            repairs += 1
            found, end = _broken(text, at)
        if found:
            yield found
        at = text.find("{", end)


def _whole(text: str, at: int) -> tuple[FoundObject | None, int]:
    """The object that begins at `at`, and where to go on."""
    for strict in (True, False):
        try:
            value, end = json.JSONDecoder(strict=strict).raw_decode(text, at)
            return FoundObject(value, repaired=not strict), end
        except (ValueError, RecursionError):
            continue
    return None, at + 1


def _broken(text: str, at: int) -> tuple[FoundObject | None, int]:
    import json_repair

    whole = object_end(text, at)
    end = whole or len(text)
    if end - at > MAX_REPAIRED or text.count("{", at, end) > _MAX_BRACES:
        return None, at + 1
    try:
        value = json_repair.loads(text[at:end])
    except RecursionError:
        return None, at + 1
    if not isinstance(value, dict) or not value:
        return None, at + 1
    return FoundObject(value, repaired=True, cut=whole is None), end
