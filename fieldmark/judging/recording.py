"""What a run folder keeps of a judge: all that it judges by in run.json, paths in the private part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fieldmark.evals.judges import Judge
from fieldmark.model_config import MODEL_JUDGES, JudgeConfig
from fieldmark.run_reader import part
from fieldmark.sandbox.gateway.endpoint import public_url
from fieldmark.user_file import is_file_name, sha256


def publishable(settings: JudgeConfig, judge: Judge) -> Any:
    """The settings for run.json, without secrets and paths: a name, or a table where there is more to say."""
    if settings.name == "fine-r1" and settings.variant:
        told = settings.model_dump(mode="json", include={"name", "variant", "siglip", "super_category"})
        siglip = (
            {"siglip": Path(settings.siglip).name if Path(settings.siglip).is_dir() else settings.siglip}
            if settings.siglip
            else {}
        )
        return {key: value for key, value in {**told, **siglip}.items() if value is not None}
    if settings.name not in MODEL_JUDGES:
        return settings.name if settings.name == "fine-r1" else judge.name
    told = settings.model_dump(mode="json", exclude_none=True, exclude={"prompts"})
    return {**told, "base_url": public_url(settings.base_url)} if settings.base_url else told


def paths(settings: JudgeConfig) -> dict[str, Any]:
    """What the private part keeps in its place: the file of the user's own judge, or prompts."""
    if is_file_name(settings.name):
        return {"judge": str(Path(settings.name).resolve())}
    if settings.siglip and Path(settings.siglip).is_dir():
        told = settings.model_dump(mode="json", include={"name", "variant", "super_category"})
        return {"judge": {**told, "siglip": str(Path(settings.siglip).resolve())}}
    if settings.prompts is None:
        return {}
    told = settings.model_dump(mode="json", exclude_none=True)
    if settings.base_url:
        told["base_url"] = public_url(settings.base_url)
    return {"judge": {**told, "prompts": str(settings.prompts.resolve())}}


def describe(judge: Judge) -> dict[str, Any]:
    """The judge's name → what it judges by, for a judge that has settings."""
    described = getattr(judge, "described", None)
    return {judge.name: described} if isinstance(described, dict) else {}


def switch(config: dict[str, Any], settings: JudgeConfig, judge: Judge) -> dict[str, Any]:
    """run.json of a run whose judge is another one from now on."""
    changed = {**config, "judge": judge.name, "judges": {**part(config, "judges"), **describe(judge)}}
    changed["config"] = {**part(config, "config"), "judge": publishable(settings, judge)}
    changed.pop("judge_sha256", None)
    if is_file_name(settings.name):
        changed["judge_sha256"] = sha256(Path(settings.name))
    return changed
