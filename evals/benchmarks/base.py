"""Benchmark: a list of tasks and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.task import Task

if TYPE_CHECKING:
    from fieldmark.evals.benchmarks.galleries import Galleries


@dataclass(frozen=True)
class Benchmark:
    """What `load_benchmark` returns. Nothing of it but the Prompts of its tasks enters a sandbox.

    `version` is a hash of the task, index, registry, guard and site files (the pictures are hashed by each
    run).
    `index` is a folder with an `index.jsonl`, `registry` a CSV file, `site` a folder with a folder of
    pages for each host; all are optional. `guard`: hosts (or host/path) of records and mirrors of the source
    datasets, which no run opens.
    `data` says of a benchmark whose data the user brought what they are and how they were read; for run.json.
    `galleries`: its tasks are games of AMIGO over these.
    `warnings` are doubts that did not stop the load, one line each.
    """

    name: str
    version: str
    tasks: list[Task]
    index: Path | None = None
    registry: Path | None = None
    site: Path | None = None
    guard: list[str] = field(default_factory=list)
    description: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    galleries: Galleries | None = None
