"""The model that classifies wrong answers: which one a run has, and what its folder keeps of it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from fieldmark import trust
from fieldmark.errors import UsageError, plain_reason
from fieldmark.evals.failures.asked import AskedClassifier
from fieldmark.model_config import ClassifierConfig
from fieldmark.run_reader import part
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.endpoint import public_url


def settings_of(folder: RunDir, given: dict[str, Any], *, trusted: bool = False) -> ClassifierConfig | None:
    """The classifier that options name, else the one that the run has, else None.

    UsageError for options without a model, or one that cannot be, or that only the folder names, unless it is
    `trusted`.
    """
    if given and "name" not in given:
        raise UsageError(f"--{sorted(given)[0].replace('_', '-')} is for a model: name it with --model")
    config = folder.config().get("config")
    recorded = config.get("classifier") if isinstance(config, dict) else None
    told = given or folder.paths().get("classifier") or recorded
    settings = checked(told) if told else None
    if settings and not given:
        trust.check(folder.path, trust.named_by_asked(settings), trust=trusted)
    elif settings:
        trust.remember(trust.named_by_asked(settings))
    return settings


def checked(told: dict[str, Any]) -> ClassifierConfig:
    """The settings that options say. UsageError for one that cannot be."""
    try:
        return ClassifierConfig.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        why = plain_reason(first["type"], first["msg"])
        raise UsageError(f"--{str(first['loc'][0]).replace('_', '-')}: {why}") from None


def publishable(settings: ClassifierConfig) -> dict[str, Any]:
    """The settings for run.json, without secrets and paths."""
    told = settings.model_dump(mode="json", exclude_none=True, exclude={"prompts"})
    return {**told, "base_url": public_url(settings.base_url)} if settings.base_url else told


def paths(settings: ClassifierConfig | None) -> dict[str, Any]:
    """What the private part keeps in its place: prompts of the user's own."""
    if settings is None or settings.prompts is None:
        return {}
    return {"classifier": {**publishable(settings), "prompts": str(settings.prompts.resolve())}}


def record(folder: RunDir, settings: ClassifierConfig, classifier: AskedClassifier) -> None:
    """Write who classifies the run from now on, and all that it classifies by, under its name."""
    folder.lock()
    try:
        config = folder.config()
        config["classifiers"] = {**part(config, "classifiers"), classifier.name: classifier.described}
        config["config"] = {**part(config, "config"), "classifier": publishable(settings)}
        folder.write_config(config)
        kept = {key: value for key, value in folder.paths().items() if key != "classifier"}
        folder.write_paths(kept | paths(settings))
    finally:
        folder.unlock()
