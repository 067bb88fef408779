"""What two runs were made with that is not the same: by aspect, and within it key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from fieldmark.config import RunConfig

CLOSED_BOOK = "closed_book"
_ASPECTS = {
    "agent": ("agent", "agent_sha256", "container"),
    "fork": ("forked",),
    "protocol": ("protocol",),
    "model": ("model", "config.model.context", "config.model.output"),
    "eyes": ("eyes",),
    "prompts": ("prompts",),
    "tools": ("tools", "ocr", "own_tools", "actions"),
    "memory": ("memory",),
    "skills": ("skills", "config.skill_calls"),
    "limits": ("limits",),
    "picture": (
        *("config.image", "image_side", "config.max_megapixels"),
        *("config.image_bytes", "config.image_megapixels"),
    ),
    "benchmark": ("benchmark.name", "benchmark.version"),
    "judge": ("judge", "judge_sha256", "judged by"),
    "web": ("web", "search", "config.web", "config.search", "config.reverse", "config.allow_upload"),
    "index and registry": ("index", "registry"),
    "image": ("image",),
    "code": ("versions", "git"),
    "seed": ("seed",),
    "order": ("order.number", "order.seed"),
    "epochs": ("epochs",),
    "options": ("options",),
}
"""Aspect → the parts of run.json that belong to it; `image` is the sandbox's. `options`: see `_whole`."""
_TOLD_ELSEWHERE = frozenset(
    "benchmark data map protocol agent model eyes judge tools tool skills skill_calls ocr limits seed epochs"
    " image image_side image_bytes image_megapixels max_megapixels web web_archive site allow deny"
    " allow_local search reverse allow_upload"
    " index registry actions replay memory memory_before memory_form waves order".split()
)
"""Options whose aspect has what they came to."""
_NO_MATTER = frozenset(
    "tasks where limit parallel min_free_mb max_cost max_hours preflight probe allow_blind strict cache"
    " facets prices name out with_twin serpapi_key_env memory_url executor address".split()
)
"""Options that change which tasks are done, how soon, or what is told: nothing measured of a task."""
_NOT_CHOSEN = {"preflight", "pacing", "uses", "stopped", "rows"}
"""Keys in those parts that tell how a run went, not what it was made with."""
_MISSING = "–"


class Difference(BaseModel):
    """One aspect of the configuration; `details` are (key, value in a, value in b)."""

    aspect: str
    details: list[tuple[str, str, str]]


def made_with(run: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(aspect, key, value) of all that a run.json says the run was made with, options at their default too.

    Not the hosts that no run opens: they are records of the pictures.
    """
    whole = _whole(run)
    return [
        (name, key, text)
        for name, parts in _ASPECTS.items()
        for part in parts
        for key, text in _flat(part, _at(whole, part))
        if "guard" not in key.split(".")
    ]


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[Difference]:
    """The aspects in which two run.json differ."""
    one, other = _whole(a), _whole(b)
    found = [Difference(aspect=name, details=_details(one, other, parts)) for name, parts in _ASPECTS.items()]
    return [difference for difference in found if difference.details]


def consequences(found: list[Difference], a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Of the aspects that differ those which only follow from another one, and are no choice of their own.

    Closed book has no tools and skills, and nothing to reach by them; its twin has no memory; an
    agent with packages has an image of its own; a skill that is off takes the tools that it carries, a memory
    brings its own.
    """
    keys = {each.aspect: {key.partition(".")[0] for key, _, _ in each.details} for each in found}
    packages = [_at(run, "container.packages") for run in (a, b)]
    follows = set()
    closed = a if a.get("agent") == CLOSED_BOOK else b
    if "agent" in keys and closed.get("agent") == CLOSED_BOOK:
        follows |= {"tools", "skills", "web", "index and registry"}
        follows |= {"memory"} if not closed.get("memory") else set()
    if packages[0] != packages[1]:
        follows.add("image")
    if keys.keys() & {"skills", "memory"} and keys.get("tools") == {"tools"} and _asked(a) == _asked(b):
        follows.add("tools")
    return [aspect for aspect in keys if aspect in follows]


def _asked(run: dict[str, Any]) -> Any:
    return _at(run, "config.tools")


def _whole(run: dict[str, Any]) -> dict[str, Any]:
    """A run.json with the options of today: those it does not know have their defaults. `judged by`: the
    settings of its judge; `options`: all that no other aspect tells of and that matters.
    """
    known, judges = run.get("config"), run.get("judges")
    defaults = RunConfig().model_dump(mode="json", exclude_none=True)
    config = {**defaults, **(known if isinstance(known, dict) else {})}
    other = {key: value for key, value in config.items() if key not in _TOLD_ELSEWHERE | _NO_MATTER}
    judged = judges.get(run.get("judge")) if isinstance(judges, dict) else None
    return {**run, "config": config, "options": other, "judged by": judged}


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
