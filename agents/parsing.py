"""The one place where a model's text becomes an answer. Nothing is executed and nothing is invented.

Thinking is left out first, and then tool calls that were written as text. Then, in this order: `<answer>`
tags, a JSON object with the key `answer` (mended where it is broken), `boxed{}` of LaTeX, a line `Answer: …`,
the whole text. Of several, the last that is not empty is the model's final word. A value that the token limit
cut in the middle is no answer.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any, Literal, NamedTuple, Protocol

from fieldmark.tools.model_text import whole_objects, without_fence, without_thinking

ParsedBy = Literal["json", "json_repaired", "tag", "boxed", "label", "text", "truncated", "empty"]


class Parsed(NamedTuple):
    """`confidence` is a fraction 0-1. `parsed_by` says how `answer` was found."""

    answer: str
    confidence: float | None = None
    rationale: str | None = None
    parsed_by: ParsedBy = "empty"

    @property
    def explicit(self) -> bool:
        """Whether the model marked this as its answer, rather than just writing."""
        return bool(self.answer) and self.parsed_by != "text"


class Read(Protocol):
    """What reads an answer out of a model's reply; `truncated`: the reply was cut at the token limit."""

    def __call__(self, raw: str, *, truncated: bool = False) -> Parsed: ...


def parse_answer(raw: str, *, truncated: bool = False) -> Parsed:
    """Read an answer out of a model's reply; `truncated`: the reply was cut at the token limit."""
    text = without_calls(without_thinking(raw))
    for read in (_from_tag, _from_json, _from_boxed, _from_label):
        found = read(text, truncated)
        if found is not None:
            return found
    if truncated:
        return Parsed("", parsed_by="truncated")
    plain = without_fence(text)
    return Parsed(plain, parsed_by="text" if plain else "empty")


def confidence(value: Any) -> float | None:
    """A fraction from 0.85, 85, "85%" or "0.85"; None for anything out of range or unclear."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    match = re.fullmatch(r"([+-]?\d+(?:\.\d+)?)\s*(%?)", unicodedata.normalize("NFKC", str(value)).strip())
    if match is None:
        return None
    number = float(match[1])
    if match[2] or 2 <= number <= 100:  # between 1 and 2 it is neither a fraction nor a likely percentage
        number /= 100
    return number if math.isfinite(number) and 0 <= number <= 1 else None


# --- calls written as text ------------------------------------------------------------------------

_CALL = re.compile(
    r"<(tool_call|function_call)>.*?(?:</\1>|\Z)|<function=[\w.-]+>.*?(?:</function>|\Z)|\[TOOL_CALLS\].*",
    re.DOTALL,
)
_BARE_CALL = re.compile(r'\{\s*"name"\s*:\s*"[^"]*"\s*,\s*"(?:arguments|parameters)"\s*:.*\}', re.DOTALL)


def without_calls(text: str) -> str:
    """The text without tool calls in the syntax of chat templates, which a server should have read."""
    rest = _CALL.sub("", text).strip()
    return "" if _BARE_CALL.fullmatch(without_fence(rest)) else rest


def only_calls(raw: str) -> bool:
    """Whether all that a reply says, beside its thinking, is tool calls written as text."""
    text = without_thinking(raw)
    return bool(text) and not without_calls(text)


# --- <answer> tags --------------------------------------------------------------------------------

_TAG = re.compile(r"<answer>(.*?)(</answer>|\Z)", re.DOTALL | re.IGNORECASE)


def _from_tag(text: str, truncated: bool) -> Parsed | None:
    found = _TAG.findall(text)
    if not found:
        return None
    closed = [body.strip() for body, end in found if body.strip() and (end or not truncated)]
    if not closed:
        return Parsed("", parsed_by="truncated" if truncated else "tag")
    inner = _from_json(closed[-1], truncated) or _from_boxed(closed[-1], truncated)
    return inner if inner and inner.answer else Parsed(closed[-1], parsed_by="tag")


# --- \\boxed{} ------------------------------------------------------------------------------------

_BOXED = re.compile(r"\\boxed\s*\{")
_TEXT_MACRO = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf)\s*\{([^{}]*)\}")
_MAX_BOXES = 50  # of one reply that are read


def _from_boxed(text: str, truncated: bool) -> Parsed | None:
    boxes = [_in_braces(text, match.end()) for match in list(_BOXED.finditer(text))[-_MAX_BOXES:]]
    if not boxes:
        return None
    said = [unboxed for box in boxes if box and (unboxed := _TEXT_MACRO.sub(r"\1", box).strip(" $"))]
    if not said:
        return Parsed("", parsed_by="truncated" if truncated else "boxed")
    return Parsed(said[-1], parsed_by="boxed")


def _in_braces(text: str, start: int) -> str | None:
    """What stands from `start` to the brace that closes it; None when none does."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : start + brace.start()]
    return None


# --- JSON -----------------------------------------------------------------------------------------

_ANSWER_KEYS = ("answer", "final_answer", "答案")
_RATIONALE_KEYS = ("rationale", "reasoning", "reason", "explanation")
_KEY = r"[\"']?(?:answer|final_answer|答案)[\"']?\s*:\s*"
_BROKEN = re.compile(r"\{(?:[^{}]*[\s,{])?(?=" + _KEY + ")", re.IGNORECASE)
_OPEN_VALUE = re.compile(_KEY + r"(?:\"(?:[^\"\\]|\\.)*|'(?:[^'\\]|\\.)*)\\?\Z", re.IGNORECASE | re.DOTALL)


def _from_json(text: str, truncated: bool) -> Parsed | None:
    whole = [found for value in whole_objects(text) if (found := _answer_object(value, "json"))]
    if whole:
        return next((found for found in reversed(whole) if found.answer), whole[-1])
    return _from_broken_json(text)


def _from_broken_json(text: str) -> Parsed | None:
    start = next((match.start() for match in reversed(list(_BROKEN.finditer(text)))), None)
    if start is None:
        return None
    if _OPEN_VALUE.search(text, start):
        return Parsed("", parsed_by="truncated")
    import json_repair

    fragment = text[start : text.rfind("}") + 1 or None]
    value = json_repair.loads(fragment or text[start:])
    rows = value if isinstance(value, list) else [value]
    found = [parsed for row in rows if (parsed := _answer_object(row, "json_repaired"))]
    return found[-1] if found else None


def _answer_object(value: Any, parsed_by: ParsedBy) -> Parsed | None:
    """The answer in an object, or in one nested inside it."""
    if not isinstance(value, dict):
        return None
    fields = {str(key).strip().casefold(): item for key, item in value.items()}
    key = next((name for name in _ANSWER_KEYS if name in fields), None)
    if key is None:
        nested = (_answer_object(item, parsed_by) for item in value.values())
        return next((found for found in nested if found), None)
    rationale = next((_scalar(fields[name]) for name in _RATIONALE_KEYS if name in fields), "")
    return Parsed(_scalar(fields[key]), confidence(fields.get("confidence")), rationale or None, parsed_by)


def _scalar(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := _scalar(item)))
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    return ""


# --- "Answer: …" ----------------------------------------------------------------------------------


def _label(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"^[ \t*#>_-]*(?:{names})[ \t*_]*[:\uff1a][ \t*_]*(?:\n\s*)?(.+?)[ \t*_]*$", re.I | re.M
    )


_ANSWER = _label(r"(?:final|best|my)?[ \t]*answer|(?:最终|最后的?)?答案")
_CONFIDENCE = _label(r"confidence|置信度")
_RATIONALE = _label(r"rationale|reason(?:ing)?|explanation|理由")


def _from_label(text: str, truncated: bool) -> Parsed | None:
    matches = list(_ANSWER.finditer(text))
    if not matches:
        return None
    if truncated and matches[-1].end() == len(text):
        return Parsed("", parsed_by="truncated")
    sure, why = _CONFIDENCE.search(text), _RATIONALE.search(text)
    return Parsed(
        matches[-1][1].strip(), confidence(sure[1]) if sure else None, why[1] if why else None, "label"
    )
