"""A fork, from what is asked to a finished run folder and what came of it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fieldmark import launch, trust
from fieldmark.config import RunConfig
from fieldmark.forking.asked import Asked
from fieldmark.forking.outcome import Outcome, outcome
from fieldmark.forking.place import find
from fieldmark.forking.plan import Forking, configure, describe, recorded_run, warnings
from fieldmark.model_config import ModelConfig
from fieldmark.sandbox.gateway.builtin import BUILTIN

Say = Callable[[str], None]


def carry_out(
    path: Path, task: str, epoch: int, seq: int, asked: Asked, flags: dict[str, Any], say: Say,
    *, trusted: bool = False,
) -> Outcome:  # fmt: skip
    """Fork an episode and play it to its end. UsageError before anything is spent; see `configure`, and for
    servers and files that only the folder names, unless they are `trusted`.
    """
    run = recorded_run(path)
    config = configure(run, task, epoch, flags)
    trust.check(path, trust.named_by_run(_as_recorded(config, flags)), trust=trusted)
    fork, changed = find(run, task, epoch, seq, asked)
    for line in warnings(run, flags):
        say(line)
    config = config.model_copy(update={"out": config.out or _default_place(run.path)})
    begun = launch.new_run(config, say, Forking(fork, describe(fork, seq, asked, config)))
    launch.play(begun)
    return outcome(run, begun.folder, fork, changed)


def _as_recorded(config: RunConfig, flags: dict[str, Any]) -> RunConfig:
    """Without the model, where its server was named just now."""
    if not flags.get("base_url"):
        return config
    eyes = config.eyes if config.eyes and config.eyes.base_url != flags["base_url"] else None
    return config.model_copy(update={"model": ModelConfig(name=BUILTIN[0]), "eyes": eyes})


def _default_place(run: Path) -> Path:
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{now}-fork-{run.resolve().name}"
