"""Benchmark: a list of tasks and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fieldmark.task import Task


@dataclass(frozen=True)
class Benchmark:
    """What `load_benchmark` returns. Nothing of it but the Prompts of its tasks enters a sandbox.

    `version` is a hash of the task, index and registry files (the pictures are hashed by each run).
    `index` is a folder with an `index.jsonl`, `registry` a CSV file; both are optional.
    `warnings` are doubts that did not stop the load, one line each.
    """

    name: str
    version: str
    tasks: list[Task]
    index: Path | None = None
    registry: Path | None = None
    description: str = ""
    warnings: list[str] = field(default_factory=list)
