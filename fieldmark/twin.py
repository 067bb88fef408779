"""The closed-book twin of a run (`--with-twin`): the same model over the same tasks, without any tool.

It is a run of its own, in a folder beside; model, eyes, judge, seed, epochs and picture are the run's. It has
no memory: what it says is the model's own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fieldmark import launch, preflight
from fieldmark.config import RunConfig
from fieldmark.describing import describe
from fieldmark.errors import UsageError
from fieldmark.evals.comparison.differences import CLOSED_BOOK, differences
from fieldmark.preflight import Plan
from fieldmark.rundir import RunDir
from fieldmark.runner import Run

SUFFIX = "-closed-book"
_NOT_ITS_OWN = {"web", "index and registry", "code", "image"}
"""Aspects that a twin may have otherwise: it reaches no page, and versions are no configuration."""
Say = Callable[[str], None]


def beside(path: Path) -> Path:
    """Where the twin of the run in `path` lies."""
    return path.with_name(path.name + SUFFIX)


def twin_config(config: RunConfig, path: Path | None) -> RunConfig:
    """The twin of a run in `path` (None: not known yet). UsageError when there can be none."""
    if config.replay:
        raise UsageError("--with-twin: a replayed model answers only what it was asked then: leave it out")
    if config.agent == CLOSED_BOOK:
        raise UsageError(f"--with-twin: {CLOSED_BOOK} is its own twin: leave it out")
    own: dict[str, Any] = {"agent": CLOSED_BOOK, "tools": None, "tool": [], "skills": None}
    own |= {"memory": "off", "memory_form": "store", "memory_before": None, "memory_url": None, "waves": None}
    name = config.name and config.name + SUFFIX
    return config.model_copy(update={**own, "with_twin": False, "name": name, "out": path and beside(path)})


def check(config: RunConfig, path: Path | None) -> None:
    """What can be known to be wrong with the twin, before its run spends anything. UsageError says it."""
    plan = preflight.make_plan(twin_config(config, path).model_copy(update={"preflight": False}))
    place = path and beside(path)
    if place and RunDir(place).run_json.exists():
        _check_alike(RunDir.open(place), plan)


def begin(run: Run, say: Say) -> tuple[RunDir, Run | None]:
    """The twin's folder, and what is to be carried out there: None where it is finished."""
    spent = run.spending.describe()
    config = _within(twin_config(run.plan.config, run.folder.path), spent)
    place = beside(run.folder.path)
    if not RunDir(place).run_json.exists():
        begun = launch.new_run(config, say)
        return begun.folder, begun
    folder = RunDir.open(place)
    if _is_finished(folder):
        say(f"twin: {place} is finished and has the same configuration: it is used again")
        return folder, None
    flags = {key: getattr(config, key) for key in launch.MAY_CHANGE - {"out", "name", "with_twin"}}
    flags |= {"base_url": config.model.base_url, "eyes_url": config.eyes and config.eyes.base_url}
    return folder, launch.resume_run(place, flags, say)


def _within(config: RunConfig, spent: dict[str, Any]) -> RunConfig:
    """`--max-cost` and `--max-hours` are for both runs: the twin has what its run left."""
    left = {
        option: max(0.0, limit - (spent[key] or 0.0))
        for option, key in (("max_cost", "usd"), ("max_hours", "hours"))
        if (limit := getattr(config, option)) is not None
    }
    return config.model_copy(update=left)


def _is_finished(folder: RunDir) -> bool:
    broken = any(record.status == "sandbox_error" for record in folder.episodes())
    return folder.config().get("state") == "finished" and not broken


def _check_alike(folder: RunDir, plan: Plan) -> None:
    """UsageError when what lies there is not the twin that `plan` makes."""
    was = folder.config()
    found = differences(was, describe(plan, folder.path.name, {}))
    other = [each.aspect for each in found if each.aspect not in _NOT_ITS_OWN]
    refused = [row.get("id") for row in was.get("refused") or []]
    if {task.id for task in plan.tasks} != {*(row.get("id") for row in folder.tasks()), *refused}:
        other.append("tasks")
    if other:
        named = ", ".join(other)
        raise UsageError(
            f"--with-twin: {folder.path} is not the twin of this run ({named} differ): move it away, or name"
            " another --out"
        )
