"""A fork, from what is asked to a finished run folder and what came of it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fieldmark import launch
from fieldmark.forking.asked import Asked
from fieldmark.forking.outcome import Outcome, outcome
from fieldmark.forking.place import find
from fieldmark.forking.plan import Forking, configure, describe, recorded_run, warnings

Say = Callable[[str], None]


def carry_out(
    path: Path, task: str, epoch: int, seq: int, asked: Asked, flags: dict[str, Any], say: Say
) -> Outcome:
    """Fork an episode and play it to its end. UsageError before anything is spent; see `configure`."""
    run = recorded_run(path)
    fork, changed = find(run, task, epoch, seq, asked)
    config = configure(run, task, epoch, flags)
    for line in warnings(run, flags):
        say(line)
    config = config.model_copy(update={"out": config.out or _default_place(run.path)})
    begun = launch.new_run(config, say, Forking(fork, describe(fork, seq, asked, config)))
    launch.play(begun)
    return outcome(run, begun.folder, fork, changed)


def _default_place(run: Path) -> Path:
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{now}-fork-{run.resolve().name}"
