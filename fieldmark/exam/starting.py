"""The run folder of an exam: drawn, staged and described, or opened to go on with."""

from __future__ import annotations

import datetime
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark import __version__, preflight
from fieldmark.clock import utc
from fieldmark.config import RunConfig
from fieldmark.describing import PATHS, git_revision
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.exam.drawing import draw
from fieldmark.labelling.session import check_name
from fieldmark.launch import Say, paths, stage_all
from fieldmark.own_data import describe as describe_own_data
from fieldmark.own_data import with_own_data
from fieldmark.records import PERSON
from fieldmark.rundir import RunDir
from fieldmark.task import Task
from fieldmark.task_selection import describe_order, select_tasks


@dataclass(frozen=True)
class ExamAsked:
    """Who is examined by which paper: `size` tasks, drawn by the seed of the run's configuration."""

    person: str
    size: int
    paper: int = 1
    stratify: str | None = None

    def __post_init__(self) -> None:
        check_name(self.person, "--person")


def new_exam(config: RunConfig, asked: ExamAsked, say: Say) -> RunDir:
    """Draw the tasks and make the run folder, held by this process. UsageError for what cannot be."""
    path = config.out or Path("runs") / _default_name(asked)
    if full := preflight.check_disk(path, config.min_free_mb):
        raise UsageError(full)
    benchmark = with_own_data(load_benchmark(config.benchmark, config.data, config.map), config)
    for line in benchmark.warnings:
        say(f"{benchmark.name}: {line}")
    chosen = select_tasks(benchmark.tasks, benchmark.name, config)
    tasks = draw(chosen, asked.size, asked.paper, config.seed, asked.stratify)
    folder = RunDir.create(path)
    folder.lock()
    staged, refused = stage_all(tasks, config, folder.blob_store())
    if refused:
        raise UsageError(f"{next(iter(refused.values()))}: mend the picture, or leave it out with --where")
    folder.write_tasks([item.public() for item in staged], {item.task.id: item.task.gold for item in staged})
    folder.write_paths(paths(config))
    folder.write_config(_described(config, asked, benchmark, tasks, path.name))
    return folder


def open_exam(path: Path) -> RunDir:
    """An exam that was begun, held by this process and repaired. UsageError: it is none, or is held."""
    folder = RunDir.open(path)
    if not folder.config().get("exam"):
        raise UsageError(f"{path} is no exam: go on with it by `fieldmark run --resume {path}`")
    folder.lock()
    return folder


def _described(
    config: RunConfig, asked: ExamAsked, benchmark: Benchmark, tasks: list[Task], run_id: str
) -> dict[str, Any]:
    """What run.json says: what it says of any run, as far as it is true of a person."""
    recorded = config.model_dump(mode="json", exclude_none=True, exclude={"out", "judge", *PATHS})
    recorded |= {"benchmark": benchmark.name, "agent": PERSON}
    recorded["model"] = {"name": asked.person, "sees": True}
    return {
        "id": run_id,
        "name": config.name or run_id,
        "state": "running",
        "started": utc(),
        "config": recorded,
        "benchmark": {"name": benchmark.name, "version": benchmark.version, "tasks": len(tasks),
                      "guard": benchmark.guard, **({"data": benchmark.data} if benchmark.data else {})},
        "agent": PERSON,
        "model": {"name": asked.person, "sees": True},
        "exam": {"tasks": asked.size, "paper": asked.paper, "seed": config.seed, "stratify": asked.stratify},
        **describe_own_data(config),
        "tools": [],
        "skills": {},
        "limits": {"seconds": config.limits.seconds},
        "picture": config.image,
        "image_side": config.image_side,
        "parallel": 1,
        "epochs": 1,
        "seed": config.seed,
        "order": describe_order(tasks, config),
        "versions": {"fieldmark": __version__, "python": platform.python_version()},
        "refused": [],
        "git": git_revision(),
    }  # fmt: skip


def _default_name(asked: ExamAsked) -> str:
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    safe = "".join(each if each.isalnum() or each in "-_" else "-" for each in asked.person)
    return f"{now}-exam-{asked.paper}-{safe}"
