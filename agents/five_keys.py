"""Reads the reply of a model that was asked for Pix2Fact's five keys (`fieldmark/five_keys.py`).

Thinking, fences and words around the object do no harm, nor do braces and objects in its values; of several
objects the last with a short answer counts. Without such an object, the reply is read as any other
(`fieldmark.agents.parsing`). A short answer that the token limit cut is no answer.
"""

from __future__ import annotations

from typing import Any

from fieldmark.agents.parsing import Parsed, ParsedBy, parse_answer
from fieldmark.five_keys import full_answer, is_short, short_answer
from fieldmark.tools.model_text import FoundObject, objects_in, without_thinking


def parse_five_keys(raw: str, *, truncated: bool = False) -> Parsed:
    """`rationale` is the full answer. The model is asked for no confidence."""
    text = without_thinking(raw)
    found = [parsed for each in objects_in(text) if (parsed := _read(each, text))]
    if found:
        return next((parsed for parsed in reversed(found) if parsed.answer), found[-1])
    return parse_answer(raw, truncated=truncated)


def _read(found: FoundObject, text: str) -> Parsed | None:
    how: ParsedBy = "json_repaired" if found.repaired else "json"
    value = _innermost(found.value)
    if value is None:
        said = _text(full_answer(found.value))
        return Parsed("", None, said, how) if said else None
    if found.cut and is_short([*value][-1]) and not text.rstrip("`~ \n").endswith(('"', "'")):
        return Parsed("", parsed_by="truncated")
    return Parsed(_text(short_answer(value)), None, _text(full_answer(value)) or None, how)


def _innermost(value: Any) -> dict[str, Any] | None:
    """The object with a short answer: this one, or one nested in it."""
    if not isinstance(value, dict):
        return None
    if short_answer(value) is not None:
        return value
    return next((found for item in value.values() if (found := _innermost(item))), None)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := _text(item)))
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    return ""
