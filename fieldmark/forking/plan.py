"""A fork as a run: the configuration of its recording, and the plan whose models are the fork's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fieldmark.config import FROZEN, REPLAY, RunConfig
from fieldmark.errors import UsageError
from fieldmark.forking.asked import Asked
from fieldmark.model_config import ModelConfig
from fieldmark.preflight import Plan
from fieldmark.run_reader import part
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.builtin import BUILTIN
from fieldmark.sandbox.gateway.endpoint import public_url
from fieldmark.sandbox.gateway.replay.fork import Fork, ForkUpstream


@dataclass(frozen=True)
class Forking:
    """A fork to be carried out; `described` is what run.json says of it."""

    fork: Fork
    described: dict[str, Any]

    def into(self, plan: Plan) -> Plan:
        """The plan with the models of the fork. UsageError: the benchmark is no longer the recorded one."""
        was = part(self.fork.recording.described, "benchmark").get("version")
        if plan.benchmark.version != was:
            name = self.fork.recording.name
            raise UsageError(f"{plan.benchmark.name} has changed since {name} was recorded: restore it")
        live, eyes = (plan.upstream, plan.eyes) if plan.recording is None else (None, None)
        return replace(
            plan,
            upstream=ForkUpstream(self.fork, live),
            eyes=plan.eyes and ForkUpstream(self.fork, eyes, "eyes"),
        )


def describe(fork: Fork, seq: int, asked: Asked, config: RunConfig) -> dict[str, Any]:
    """For run.json, under `forked`."""
    after = {"replay": True} if config.replay else {"name": config.model.name}
    base_url = config.model.base_url
    return {
        "run": fork.recording.name,
        "task": fork.task,
        "epoch": fork.epoch,
        "event": seq,
        "change": asked.describe(),
        "after": {**after, **({"base_url": public_url(base_url)} if base_url else {})},
        "episodes_sha256": fork.recording.sha256,
    }


def configure(run: RunDir, task: str, epoch: int, flags: dict[str, Any]) -> RunConfig:
    """The recording's configuration for one task, and what is asked otherwise. UsageError.

    `flags`: `model`, `base_url`, `key_env`, `after`, `repeat`, `benchmark`, `data`, `out`.
    """
    recorded = RunConfig.model_validate({**run.config()["config"], **run.paths()})
    given = {name: flags[name] for name in ("benchmark", "data", "out") if flags.get(name) is not None}
    return recorded.model_copy(
        update={
            "tasks": [task], "where": None, "limit": 0, "order": 0, "epochs": flags.get("repeat") or 1,
            "parallel": None, "replay": None, "strict": False, "cache": None, "probe": False,
            "with_twin": False, "max_cost": None, "max_hours": None, "name": None,
            "web": "replay" if recorded.web == "record" else recorded.web,
            **_memory(run, recorded, task, epoch), **_model(run, recorded, flags), **given,
        }
    )  # fmt: skip


def _model(run: RunDir, recorded: RunConfig, flags: dict[str, Any]) -> dict[str, Any]:
    """Who answers after the fork."""
    told = {name: flags[name] for name in ("base_url", "key_env") if flags.get(name)}
    if flags.get("after") == "replay":
        if told or flags.get("model") or (flags.get("repeat") or 1) > 1:
            raise UsageError("--after replay asks no model, once: leave --model, --base-url and --repeat out")
        replayed = ModelConfig(name=f"{REPLAY}{run.path}", space=recorded.model.space)
        return {"model": replayed, "eyes": None, "replay": run.path}
    name = flags.get("model") or recorded.model.name
    if name.startswith(REPLAY):
        raise UsageError("--model replay: a fork goes on with --after replay, or with a model that answers")
    eyes = recorded.eyes
    if eyes and eyes.base_url == recorded.model.base_url and "base_url" in told:  # one server for both
        eyes = eyes.model_copy(update=told)
    told |= {"base_url": None} if name in BUILTIN else {}
    return {"model": recorded.model.model_copy(update={"name": name, **told}), "eyes": eyes}


def _memory(run: RunDir, recorded: RunConfig, task: str, epoch: int) -> dict[str, Any]:
    """The episode has the notes again that it had then, and leaves none."""
    if recorded.memory == "off":
        return {}
    if recorded.memory == "inherit" and epoch:
        raise UsageError(f"the notes of epoch {epoch} cannot be had again: fork an episode of epoch 0")
    before = task if recorded.memory == "inherit" else None
    return {"memory": f"{FROZEN}{run.path}", "memory_before": before, "waves": None, "memory_url": None}


def warnings(run: RunDir, flags: dict[str, Any]) -> list[str]:
    """What may be otherwise than in the recording beside the one change."""
    lines = []
    if not run.paths() and not flags.get("benchmark"):
        lines.append(f"{run.path} has no private part: a benchmark of your own is named with --benchmark")
    recorded = run.config()
    if part(recorded, "web").get("mode") == "live":
        lines.append("web: live, not recorded: look-ups before the fork may bring other pages, told as drift")
    if part(recorded, "web").get("mode") == "record":
        lines.append("web: pages come from the archive; what it does not have is missed after the fork")
    if part(recorded, "config").get("memory") == "inherit":
        lines.append("memory: the same notes, but `remember` is not offered: requests differ, told as drift")
    was = part(recorded, "model").get("name")
    if flags.get("model") and flags["model"] != was:
        lines.append(f"model: {flags['model']} goes on where {was} began: two things are changed")
    return lines


def recorded_run(path: Path) -> RunDir:
    """The run to be forked. UsageError: it has no finished episode."""
    run = RunDir.open(path)
    if not run.episodes():
        instead = (
            "fork its recording again"
            if "forked" in run.config()
            else f"go on with fieldmark run --resume {path}"
        )
        raise UsageError(f"{path} has no finished episode to fork: {instead}")
    return run
