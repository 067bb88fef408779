"""Options as they are given, in a TOML file and by flags, arranged into the fields of a RunConfig."""

from __future__ import annotations

from typing import Any

from fieldmark import protocol
from fieldmark.errors import UsageError

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
