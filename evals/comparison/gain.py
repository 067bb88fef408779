"""What a tool or a skill brings: two runs that differ in nothing else, and what that difference is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fieldmark.evals.comparison.differences import Difference

_SHOWN = 6
"""Names that a difference is called by."""


def gain_of(found: list[Difference], a: dict[str, Any], b: dict[str, Any]) -> str | None:
    """The name of the difference, of b against a: `+ocr`, `−skill food`. None: another thing differs too."""
    if not found or {difference.aspect for difference in found} - {"tools", "skills"}:
        return None
    skills, tools = _changes(a, b, "skills", "skill "), _changes(a, b, "tools", "")
    details = [detail for difference in found for detail in difference.details]
    other = [
        f"{key.removeprefix('config.')} {was} → {now}"
        for key, was, now in details
        if key != "tools" and "–" not in (was, now)
    ]
    parts = [*skills, *tools, *other]
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return ", ".join(parts[:_SHOWN]) + more


def _changes(a: dict[str, Any], b: dict[str, Any], part: str, noun: str) -> list[str]:
    was, now = (list(_names(run.get(part))) for run in (a, b))
    more = [f"+{noun}{name}" for name in now if name not in was]
    return [*more, *(f"−{noun}{name}" for name in was if name not in now)]


def _names(value: Any) -> Iterable[str]:
    return map(str, value) if isinstance(value, list | dict) else ()
