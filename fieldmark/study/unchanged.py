"""A study goes on as it began: what a run is asked for now, beside what it was asked for then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldmark.config import FROZEN, RunConfig
from fieldmark.errors import UsageError
from fieldmark.launch import MAY_CHANGE, paths
from fieldmark.options import FLAT, MODEL_KEYS
from fieldmark.sandbox.gateway.endpoint import public_url
from fieldmark.study.folder import RecordedStudy
from fieldmark.study.study import Study

Asked = dict[str, str]
"""Dotted setting → its value as JSON."""
UNSET = "not set"
_SHOWN = 5
_OF_MEMORY = {"memory_url", "memory_form", "waves"}
"""What is unset in an arm whose memory cannot use it, whatever the file says: see `asking.py`."""


def asked(config: RunConfig) -> Asked:
    """Every setting that is in a result: paths whole, URLs without a query and a password."""
    dumped = config.model_dump(mode="json", exclude_none=True, exclude=MAY_CHANGE)
    source = {"memory": f"{FROZEN}{config.frozen.resolve()}"} if config.frozen else {}
    return dict(_flat("", {**dumped, **paths(config), **source}))


def check_unchanged(study: Study, was: RecordedStudy, before: dict[str, Asked]) -> None:
    """UsageError when the axes, or any setting of a run that is there, are not what they were.

    A new run shares with those that are there all settings that are no axis.
    """
    if study.axes != was.axes:
        raise UsageError(
            f"{study.path} has the axes {_list(was.axes)}, now they are {_list(study.axes)}: a study keeps "
            "its axes; name another folder with --out"
        )
    for run in study.runs:
        now = asked(run.config)
        if run.name in before:
            _refuse(study.path, run.name, before[run.name], now)
        elif before:
            fields = {field for axis in study.axes for field in _fields(axis)} | {"order"}
            alike = next((other for other in before.values() if _memory(other) == _memory(now)), None)
            other = alike or next(iter(before.values()))
            fields |= set() if alike else _OF_MEMORY
            _refuse(study.path, "a new arm", _without(other, fields), _without(now, fields))


def _refuse(path: Path, who: str, before: Asked, now: Asked) -> None:
    newer = {key: value for key, value in asked(RunConfig()).items() if key not in before}
    changed = [  # an option that this fieldmark has and the earlier one had not is unchanged at its default
        f"{key}: {before.get(key, UNSET)} → {now.get(key, UNSET)}"
        for key in dict.fromkeys([*before, *now])
        if before.get(key, newer.get(key)) != now.get(key)
    ]
    if changed:
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        raise UsageError(
            f"{path} did not begin so ({who}): {'; '.join(changed[:_SHOWN])}{more}: put it back, or begin "
            "another study with --out"
        )


def _memory(settings: Asked) -> str:
    """`off`, `inherit` or `frozen`."""
    return json.loads(settings["memory"]).partition(":")[0] if "memory" in settings else "off"


def _without(settings: Asked, fields: set[str]) -> Asked:
    return {key: value for key, value in settings.items() if key.partition(".")[0] not in fields}


def _fields(axis: str) -> set[str]:
    """The fields of a RunConfig that an option shows in; eyes may be served by the model's server."""
    if axis in FLAT:
        return {"limits"}
    role = next((role for role, keys in MODEL_KEYS.items() if axis in keys), axis)
    return {"model", "eyes"} if role == "model" else {role}


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and (value or not key):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}" if key else name, inner)
    elif key.endswith("base_url"):
        yield key, public_url(value)
    else:
        yield key, json.dumps(value, ensure_ascii=False)


def _list(axes: list[str]) -> str:
    return ", ".join(axes) or "none"
