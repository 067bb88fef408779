"""What two runs were made with that is not the same: by aspect, and within it key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

_ASPECTS = {
    "agent": ("agent", "agent_sha256", "container"),
    "model": ("model",),
    "eyes": ("eyes",),
    "prompts": ("prompts",),
    "tools": ("tools", "ocr", "own_tools", "actions"),
    "memory": ("memory",),
    "skills": ("skills", "config.skill_calls"),
    "limits": ("limits",),
    "picture": ("image_side", "config.max_megapixels"),
    "benchmark": ("benchmark.name", "benchmark.version"),
    "judge": ("judge", "judge_sha256"),
    "web": ("web", "search", "config.web", "config.search", "config.reverse", "config.allow_upload"),
    "index and registry": ("index", "registry"),
    "image": ("image",),
    "code": ("versions", "git"),
    "seed": ("seed",),
    "order": ("order.number", "order.seed"),
    "epochs": ("epochs",),
}
"""Aspect → the parts of run.json that belong to it."""
_NOT_CHOSEN = {"preflight", "pacing", "uses", "stopped", "rows"}
"""Keys in those parts that tell how a run went, not what it was made with."""
_MISSING = "–"


class Difference(BaseModel):
    """One aspect of the configuration; `details` are (key, value in a, value in b)."""

    aspect: str
    details: list[tuple[str, str, str]]


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[Difference]:
    """The aspects in which two run.json differ."""
    found = [Difference(aspect=aspect, details=_details(a, b, parts)) for aspect, parts in _ASPECTS.items()]
    return [difference for difference in found if difference.details]


def _details(a: dict[str, Any], b: dict[str, Any], parts: tuple[str, ...]) -> list[tuple[str, str, str]]:
    one, other = (
        {key: text for part in parts for key, text in _flat(part, _at(run, part))} for run in (a, b)
    )
    return [
        (key, one.get(key, _MISSING), other.get(key, _MISSING))
        for key in dict.fromkeys([*one, *other])
        if one.get(key, _MISSING) != other.get(key, _MISSING)
    ]


def _at(run: dict[str, Any], path: str) -> Any:
    value: Any = run
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """(dotted key, value as text) of every leaf that is set; a list is one leaf."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _NOT_CHOSEN:
                yield from _flat(f"{key}.{name}", inner)
    elif isinstance(value, list):
        yield key, ", ".join(map(str, value)) or _MISSING
    elif value is not None:
        yield key, str(value)
