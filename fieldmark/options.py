"""Options as they are given, in a TOML file and by flags, arranged into the fields of a RunConfig."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fieldmark import protocol
from fieldmark.errors import UsageError, plain_reason

Settings = TypeVar("Settings", bound=BaseModel)
FLAT = {
    "time_limit": "seconds",
    "max_calls": "model_calls",
    "max_tokens": "tokens",
    "max_cost_per_episode": "cost",
    "max_same_requests": "same_requests",
    "max_turns": "turns",
}
"""Flags and TOML keys of the run that belong to its Limits."""


MODEL_KEYS = {
    "model": {
        **{"base_url": "base_url", "key_env": "key_env"},
        **{"sees": "sees", "space": "space", "force": "force", "context": "context", "output": "output"},
    },
    "eyes": {"eyes_url": "base_url", "eyes_key_env": "key_env"},
    "judge": {
        **{"judge_model": "model", "judge_url": "base_url", "judge_key_env": "key_env"},
        **{"judge_votes": "votes", "judge_aliases": "aliases", "judge_seed": "seed"},
        **{"judge_temperature": "temperature", "prompts": "prompts"},
        **{"judge_variant": "variant", "siglip": "siglip", "super_category": "super_category"},
    },
    "classifier": {},
    "game": {
        **{"oracle": "oracle", "detector": "detector", "noise": "noise", "batch": "batch"},
        **{"referee_model": "model", "referee_url": "base_url", "referee_key_env": "key_env"},
        **{"referee_temperature": "temperature", "referee_seed": "seed"},
    },
}
"""A model's own key, a name or a table → other flags and TOML keys that belong to it, and its fields."""


def arrange(options: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
    """Fields and their values: `options` (of a file), and over them the flags that are not None."""
    merged = dict(options)
    given = {key: value for key, value in flags.items() if value is not None}
    force = given.pop("force", {})
    if "map" in given:
        given["map"] = {**_table("map", merged.get("map", {})), **given["map"]}
    models = {role: _model(role, fields, merged, given) for role, fields in MODEL_KEYS.items()}
    models = {role: model for role, model in models.items() if model}
    force = {**_table("force", models.get("model", {}).get("force", {})), **force}
    force |= protocol.preset(given.get("protocol", merged.get("protocol")), force)
    if force:
        models["model"] = {**models.get("model", {}), "force": force}
    if "eyes" in models and "name" not in models["eyes"]:
        raise UsageError("the eyes have an option but no name: name the vision model with --eyes NAME")
    merged.update(given)
    protocol.settle(merged, models)
    limits = {field: merged.pop(key) for key, field in FLAT.items() if key in merged}
    return {**merged, **models, "limits": {**_table("limits", merged.get("limits", {})), **limits}}


def read_toml(path: Path) -> dict[str, Any]:
    """The options of a file. UsageError when it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None


def read_toml_as(path: Path, kind: type[Settings]) -> Settings:
    """The same as settings of a kind. UsageError: the first fault of the file, with the table and key."""
    try:
        return kind.model_validate(read_toml(path))
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden" and (keys := _keys(kind, fault["loc"][:-1])):
            raise UsageError(f"{path}: unknown key {where!r}; the keys are {', '.join(keys)}") from None
        raise UsageError(f"{path}: {where}: {plain_reason(fault['type'], fault['msg'])}") from None


def _keys(kind: Any, table: tuple[int | str, ...]) -> list[str]:
    """The keys of a table of settings, as its file spells them; none where it is not a plain table."""
    for part in table:
        kind = _fields(kind).get(str(part))
    return list(_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    fields = getattr(kind, "model_fields", {})
    return {field.alias or name: field.annotation for name, field in fields.items()}


def _model(
    role: str, fields: dict[str, str], merged: dict[str, Any], given: dict[str, Any]
) -> dict[str, Any]:
    """Takes what belongs to one model out of both sources."""
    model = merged.pop(role, {})
    model = {"name": model} if isinstance(model, str) else dict(_table(role, model, "a name or a table"))
    for key, field in {role: "name", **fields}.items():
        if key in given:
            model[field] = given.pop(key)
        elif key in merged:
            model[field] = merged.pop(key)
    return model


def _table(key: str, value: Any, wanted: str = "a table") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{key}: give {wanted}, not {value!r}")
    return value
