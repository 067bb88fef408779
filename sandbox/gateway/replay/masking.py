"""What may differ between two requests that say the same: times, random ids, temporary paths.

A mask replaces each by a word of its kind. Names of stored pictures are left alone: other pixels are another
request.
"""

from __future__ import annotations

import re
from typing import Any

ID_KEYS = frozenset(
    {
        "id", "call_id", "tool_call_id", "tool_use_id", "item_id", "response_id", "previous_response_id",
        "request_id", "session_id", "thread_id", "conversation_id", "prompt_cache_key", "safety_identifier",
        "trace_id", "user", "user_id",
    }
)  # fmt: skip
"""Keys whose text is a name and nothing else."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
_ZONE = r"(?:\s?(?:[AP]M\b|Z\b|UTC\b|GMT\b)|\s?(?:GMT|UTC)?[+-]\d{2}:?\d{2}\b)*"
_CLOCK = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?{_ZONE}"
_NEXT = r"(?:,?\s+(?:at\s+)?|T|_)"

_MASKS = (
    ("kept", r"blob:[0-9a-f]{64}"),
    ("uuid", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("time", rf"(?<!\d)\d{{4}}[-/]\d{{2}}[-/]\d{{2}}(?!\d)(?:{_NEXT}{_CLOCK})?"),
    ("time", rf"(?<!\d)\d{{1,2}}/\d{{1,2}}/\d{{4}}(?!\d)(?:{_NEXT}{_CLOCK})?"),
    ("time", rf"\b{_DAY}{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}\b(?:{_NEXT}{_CLOCK})?"),
    ("time", rf"\b{_DAY}\d{{1,2}}\s+{_MONTH},?\s+\d{{4}}\b(?:{_NEXT}{_CLOCK})?"),
    ("time", rf"\b{_DAY}{_MONTH}\s+\d{{1,2}}\s+{_CLOCK}(?:\s+[A-Z]{{3,4}})?(?:\s+\d{{4}})?"),
    ("time", rf"(?<![\d:]){_CLOCK}(?![\d:])"),
    ("seconds", r"(?<![\d.])(?:\d+\.\d+\s?(?:s|sec|secs|seconds)|\d+(?:\.\d+)?\s?(?:ms|milliseconds))\b"),
    ("epoch", r"(?<!\d)(?:1[5-9]|2\d)\d{8}(?:\d{3})?(?!\d)"),
    ("path", r"/(?:var/)?tmp/[^/\s\"'`<>)\]]+"),
    ("port", r"(?:127\.0\.0\.1|localhost):\d+"),
    (
        "id",
        r"\b(?:call|toolu|chatcmpl|cmpl|resp|msg|fc|rs|ses|prt|req|thread|gen)[_-](?=[A-Za-z_-]{0,40}\d)[\w-]{6,}",
    ),
    ("hex", r"(?<![0-9a-z])(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{8,}(?![0-9a-z])"),
)
_ANY = re.compile(
    "|".join(f"(?P<{name}{n}>{pattern})" for n, (name, pattern) in enumerate(_MASKS)), re.IGNORECASE
)


def masked(value: Any, key: str = "") -> Any:
    """A JSON value with what may differ replaced, `<time>` or `<id>`; `key` is what it stands under."""
    if isinstance(value, str):
        return "<id>" if key in ID_KEYS else _ANY.sub(_word, value)
    if isinstance(value, dict):
        return {name: masked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [masked(item) for item in value]
    return value


def _word(match: re.Match[str]) -> str:
    name = str(match.lastgroup).rstrip("0123456789")
    return match.group() if name == "kept" else f"<{name}>"
