"""The results of calls, found in the next request, and whether they tell of a failure."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter, defaultdict, deque
from functools import cache
from pathlib import Path
from typing import Any

from fieldmark.errors import ToolErrorKind
from fieldmark.sandbox.gateway.conversation.calls import OpenCall
from fieldmark.sandbox.gateway.conversation.said import Asked, Said
from fieldmark.tools.cutting import cut_to_bytes

TABLE = Path(__file__).with_name("results.toml")
_TEXT = 16_000
"""Bytes of a result's text that stand in its event."""
_ENVELOPE = re.compile(r'\s*\{\s*"status"\s*:\s*"error"')
_BLOCK = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


def found(calls: list[OpenCall], asked: Asked, before: Counter[str]) -> list[tuple[OpenCall, Said]]:
    """Which message answers which call. `before`: the results, by plain id, of the request before it.

    By id; else by position among the new results; else the user's message in which a framework that keeps
    its history as text wraps them.
    """
    new = _new_results(asked, before)
    pairs = [(call, new[call.plain_id].popleft()) for call in calls if new[call.plain_id]]
    done = {call.tap for call, _ in pairs}
    left = [call for call in calls if call.tap not in done]
    nameless = [said for waiting in new.values() for said in waiting]
    if nameless:
        return pairs + (list(zip(left, nameless, strict=True)) if len(left) == len(nameless) else [])
    return pairs + (_as_user(left, asked) if not pairs else [])


def event(call: OpenCall, said: Said, now: float) -> dict[str, Any]:
    """The `tool_result` that the gateway writes. `seconds` is from the reply's end to the next request: the
    tool's work, and the framework's own, and the calls beside it.
    """
    kind = error_kind(call, said)
    return {
        "call": call.tap,
        "ok": kind is None,
        "seconds": round(max(0.0, now - call.ended), 4),
        "error_kind": kind,
        "error": cut_to_bytes(said.text, 500) if kind else None,
        "text": cut_to_bytes(said.text, _TEXT),
    }


def dropped(call: OpenCall) -> dict[str, Any]:
    """The `tool_result` of a call that could not be read, and that the framework answered with nothing."""
    error = "the arguments cannot be read, and the framework dropped the call"
    return {"call": call.tap, "ok": False, "seconds": 0.0, "error_kind": "invalid_args", "error": error}


def error_kind(call: OpenCall, said: Said) -> ToolErrorKind | None:
    """What went wrong: the name was not offered; the format's flag; a text that only failures begin with."""
    if call.offered is False:
        return "not_found"
    enveloped = _enveloped(said.text)
    kind = _worded(said.text if enveloped is None else enveloped)
    if kind in (None, "runtime") and not call.readable and (kind or said.failed):
        return "invalid_args"
    return kind or ("runtime" if said.failed or enveloped is not None else None)


def _worded(text: str) -> ToolErrorKind | None:
    """The kind of failure that a text begins, or ends, with."""
    for wrapped in ("<tool_response>", "Observation:"):
        text = text.lstrip().removeprefix(wrapped).lstrip()
    head = text[:300].lower()
    kind = next((kind for kind, pattern in _failures() if pattern.match(head)), None)
    return kind or ("runtime" if _ends().search(text[-100:].lower()) else None)


def _enveloped(text: str) -> str | None:
    """The error in `{"status": "error", "error": …}`, as OpenClaw wraps it; None when it is none."""
    if not _ENVELOPE.match(text):
        return None
    try:
        return str(json.loads(text[:_TEXT]).get("error") or "")
    except (ValueError, RecursionError, AttributeError):
        return ""


def _new_results(asked: Asked, before: Counter[str]) -> defaultdict[str, deque[Said]]:
    """The results that the request before did not hold yet, by plain id (a server may use an id again)."""
    new: defaultdict[str, deque[Said]] = defaultdict(deque)
    seen: Counter[str] = Counter()
    for message in asked.said:
        if message.result_of is None:
            continue
        seen[message.result_of] += 1
        if asked.partial or seen[message.result_of] > before[message.result_of]:
            new[message.result_of].append(message)
    return new


def _as_user(calls: list[OpenCall], asked: Asked) -> list[tuple[OpenCall, Said]]:
    told = [said for said in asked.latest if said.role == "user" and _is_result(said.text)]
    if not told or not calls:
        return []
    blocks = [body for said in told for body in _BLOCK.findall(said.text)] or [said.text for said in told]
    if len(blocks) != len(calls):
        blocks = ["\n".join(said.text for said in told)] * len(calls)
    return [(call, Said("user", text)) for call, text in zip(calls, blocks, strict=True)]


def _is_result(text: str) -> bool:
    return text.lstrip()[:40].lower().startswith(_table()["as_user"])


@cache
def _failures() -> list[tuple[ToolErrorKind, re.Pattern[str]]]:
    kinds: tuple[ToolErrorKind, ...] = (
        "not_found", "invalid_args", "denied", "timeout", "unavailable", "runtime",
    )  # fmt: skip
    return [(kind, re.compile("|".join(f"(?:{text})" for text in _table()[kind]))) for kind in kinds]


@cache
def _ends() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_table()['ends'])})\s*\Z")


@cache
def _table() -> dict[str, Any]:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {**table, "as_user": tuple(table["as_user"]["begins"])}
