"""A run whose models are those of a recording: settled, compared with it, and described."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldmark.config import REPLAY, RunConfig
from fieldmark.errors import UsageError
from fieldmark.model_config import ModelConfig
from fieldmark.run_reader import part
from fieldmark.sandbox.gateway.replay.recording import Recording
from fieldmark.task import Task

_SAME = (
    "agent",
    "tools",
    "skills",
    "ocr",
    "limits",
    "picture",
    "image_side",
    "prompts",
    "protocol",
    "memory",
    "order",
)
"""What of run.json shows in requests, beside benchmark, web and space."""


def settled(config: RunConfig) -> tuple[RunConfig, Recording | None]:
    """The configuration with the models of the recording that it names. UsageError when it is none."""
    if config.replay is None:
        if config.strict:
            raise UsageError("--strict compares with a recording: name one with --model replay:RUN")
        return config, None
    recording = Recording.open(config.replay)
    model, eyes = recording.model("agent"), recording.model("eyes")
    _check_model(config.model, model)
    if config.eyes and config.eyes.name != eyes.get("name"):
        raise UsageError(f"--eyes {config.eyes.name}: a replay has the eyes of its recording: leave it out")
    now = ModelConfig(
        name=model.get("name", "?"), sees=model.get("sees") is not False, force=model.get("force", {}),
        space=config.model.space or model.get("space"),
    )  # fmt: skip
    return config.model_copy(
        update={"model": now, "eyes": ModelConfig(name=eyes["name"]) if eyes else None}
    ), recording


def check_tasks(recording: Recording, tasks: Sequence[Task], epochs: int, path: Path | None) -> None:
    """UsageError when the recording lacks an episode of one of them."""
    lacking = [
        (task.id, epoch)
        for epoch in range(epochs)
        for task in tasks
        if not recording.has(task.id, epoch) and task.id not in recording.refused
    ]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        task, epoch = lacking[0]
        where, fewer = (f"{task!r} in epoch {epoch}", ", fewer --epochs") if epoch else (repr(task), "")
        raise UsageError(
            f"{path} has no episode of task {where}{more}: name recorded tasks with --tasks{fewer},"
            f" or finish it with fieldmark run --resume {path}"
        )


def describe(recording: Recording | None) -> dict[str, Any]:
    """For run.json, under `model`: what is replayed."""
    if recording is None:
        return {}
    return {"replays": {"run": recording.name, "episodes_sha256": recording.sha256}}


def warning(recording: Recording, now: dict[str, Any]) -> str | None:
    """One line when the new run.json promises drift; None when it is like the recorded one."""
    was, now = _as_asked(recording.described), _as_asked(now)
    other = [name for name in _SAME if now.get(name) != was.get(name)]
    pairs = {"benchmark": ("name", "version"), "web": ("mode",), "model": ("space",)}
    for name, keys in pairs.items():
        if [now.get(name, {}).get(key) for key in keys] != [was.get(name, {}).get(key) for key in keys]:
            other.append("space" if name == "model" else name)
    if not other:
        return None
    return (
        f"replay: not as in {recording.name}: {', '.join(other)}; requests that differ are counted as drift"
    )


def _as_asked(described: dict[str, Any]) -> dict[str, Any]:
    """A run.json with what shows in requests. The order of the tasks does where episodes inherit notes; where
    the notes are kept does not.
    """
    memory = {key: value for key, value in part(described, "memory").items() if key != "store"}
    order = part(described, "order").get("sha256") if memory.get("mode") == "inherit" else None
    return {"picture": "full", **described, "memory": memory, "order": order}


def check_unchanged(config: RunConfig, recorded: dict[str, Any], where: Path) -> None:
    """A run goes on with the recording that it began with. UsageError when that has changed."""
    was = part(recorded, "model").get("replays")
    if not was:
        return
    if config.replay is None:
        raise UsageError(f"{where} does not know where the run {was['run']} lies: start a new run")
    if Recording.open(config.replay).sha256 != was["episodes_sha256"]:
        raise UsageError(f"{config.replay} has changed since {where} began: start a new run")


def _check_model(asked: ModelConfig, recorded: dict[str, Any]) -> None:
    """All of a replayed model is in its recording."""
    if asked.base_url:
        raise UsageError("--base-url: a replay asks no server: leave it out")
    if asked.force and asked.force != recorded.get("force"):
        raise UsageError("--force: a replayed model's parameters are those of its recording: leave it out")
    if not asked.name.startswith(REPLAY) and asked.name != recorded.get("name"):
        raise UsageError(f"model {asked.name!r} is not the recorded one: name --model replay:RUN alone")
