"""The arms of a study: every combination of the values of its axes, or those that are named one by one."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any

from fieldmark.errors import UsageError

_TELL_THEMSELVES = ("agent", "model")
"""Axes whose values need no name of the axis before them."""
_LONGEST = 200
"""Characters of an arm's name; a file name has at most 255 bytes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_TAKEN = {"blobs", "private", "report.html", "study.json"}
OWN_NAMES = "name the arms yourself, each a table [arms.NAME]"


@dataclass(frozen=True)
class Arm:
    """`name` is safe as a file name. `options`: axis → its value, as it would stand in the file of a run."""

    name: str
    options: dict[str, Any]


def combined(matrix: dict[str, Any]) -> list[Arm]:
    """Every combination of the axes' values, the last axis changing fastest. UsageError names the axis."""
    for axis, values in matrix.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"[matrix] {axis}: give a list of values, not {values!r}")
        _distinct(axis, [label(value) for value in values])
    grid = itertools.product(*matrix.values())
    arms = [dict(zip(matrix, values, strict=True)) for values in grid]
    return [Arm(_checked("_".join(_part(*item) for item in options.items())), options) for options in arms]


def named(tables: dict[str, Any]) -> list[Arm]:
    """Arms that the file names, all with the same axes. UsageError names the arm."""
    axes: dict[str, Any] = next(iter(tables.values()), {})
    for name, options in tables.items():
        if not isinstance(options, dict) or not options:
            raise UsageError(f"[arms.{name}] is no table of options: give at least one, such as memory")
        if options.keys() != axes.keys():
            raise UsageError(
                f"[arms.{name}] has {', '.join(options)}, [arms.{next(iter(tables))}] {', '.join(axes)}: "
                "name the same options in every arm"
            )
    return [Arm(_checked(name), options) for name, options in tables.items()]


def label(value: Any) -> str:
    """A value for people: of a table its name, of a path its last part; no URL."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if not key.endswith("url")}
        return label(kept.get("name") or ",".join(f"{key}={label(inner)}" for key, inner in kept.items()))
    if isinstance(value, list):
        return ",".join(map(label, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return re.sub(r"[^,:\s]*/", "", str(value).rstrip("/")) or "empty"


def _part(axis: str, value: Any) -> str:
    slug = _slug(label(value))
    return slug if axis in _TELL_THEMSELVES else f"{axis}-{slug}"


def _slug(text: str) -> str:
    spelled = text.replace(",-", "-no-").replace(",+", "+").replace(",", "+")
    return re.sub(r"[^A-Za-z0-9.+]+", "-", spelled).strip("-.") or "empty"


def _distinct(axis: str, labels: list[str]) -> None:
    seen: dict[str, str] = {}
    for text in labels:
        key = _slug(text).casefold()
        if key in seen:
            raise UsageError(
                f"[matrix] {axis}: two values are called {text!r}: leave one out, or {OWN_NAMES}"
            )
        seen[key] = text


def _checked(name: str) -> str:
    if len(name) > _LONGEST:
        raise UsageError(f"the name {name[:60]}… of an arm is too long for a folder: {OWN_NAMES}")
    if not _NAME.fullmatch(name) or name in _TAKEN or re.search(r"-o\d+$", name):
        raise UsageError(
            f"{name!r} cannot be the name of an arm: letters, digits and . _ + -, no -oN at its end, none of "
            f"{', '.join(sorted(_TAKEN))}"
        )
    return name
