"""Which tasks an exam has: papers of equal size, no two of which share a task.

The tasks are put in one random order of the seed and cut into papers. Stratified, each task's place is its
rank among those with the same label, as a fraction: any stretch of the order holds each label in nearly the
share that it has in the benchmark (systematic sampling within strata).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from fieldmark.errors import UsageError
from fieldmark.task import Labels, Task


def draw(tasks: Sequence[Task], size: int, paper: int, seed: int, stratify: str | None) -> list[Task]:
    """The `size` tasks of a paper, counted from 1. UsageError: there are not so many tasks, or no such label.

    The draw is the same on every machine. A last paper that would not be full is none.
    """
    papers = len(tasks) // size
    if not papers:
        raise UsageError(f"--tasks-per-exam {size}: only {len(tasks)} tasks are there to draw from")
    if paper > papers:
        raise UsageError(f"--paper {paper}: {len(tasks)} tasks make {papers} papers of {size}")
    ordered = _shuffled(tasks, seed)
    if stratify:
        ordered = _spread(ordered, stratify)
    return ordered[(paper - 1) * size : paper * size]


def _shuffled(tasks: Sequence[Task], seed: int) -> list[Task]:
    return sorted(tasks, key=lambda task: _place(seed, task.id))


def _spread(shuffled: list[Task], label: str) -> list[Task]:
    """In the order of each task's rank among its own, as a fraction; the shuffled order where it is equal."""
    strata: defaultdict[str, list[Task]] = defaultdict(list)
    for task in shuffled:
        strata[task.labels.value(label) or "(none)"].append(task)
    _check_label(shuffled, label)
    rank = {
        task.id: (number + 0.5) / len(stratum)
        for stratum in strata.values()
        for number, task in enumerate(stratum)
    }
    return sorted(shuffled, key=lambda task: rank[task.id])


def _check_label(tasks: Sequence[Task], label: str) -> None:
    if any(task.labels.value(label) is not None for task in tasks):
        return
    facets = sorted({name for task in tasks for name in task.labels.facets})
    names = [*(name for name in Labels.model_fields if name != "facets"), *facets]
    raise UsageError(f"--stratify {label!r}: no task has this label; the labels are {', '.join(names)}")


def _place(seed: int, task_id: str) -> str:
    return hashlib.sha256(f"exam|{seed}|{task_id}".encode("utf-8", "replace")).hexdigest()
