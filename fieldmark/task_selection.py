"""Which tasks of a benchmark a run has, and in which order.

`--tasks` (ids), then `--where` (labels), then `--limit` (the first so many), then `--order`.

Order 0 is the benchmark's own. Order N > 0 sorts the tasks by the SHA-256 of seed, N and id: a permutation
that is the same on every machine, and in which two tasks keep their places when others come or go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.task import Labels, Task


def select_tasks(tasks: Sequence[Task], benchmark: str, config: RunConfig) -> list[Task]:
    """The tasks of the run in run order. UsageError for an id or a label that `benchmark` does not have."""
    chosen = list(tasks)
    if config.tasks is not None:
        _known_ids(config.tasks, tasks, benchmark)
        chosen = [task for task in tasks if task.id in set(config.tasks)]
    if config.where:
        chosen = _matching(chosen, benchmark, config.where)
    chosen = chosen[: config.limit] if config.limit else chosen
    if not config.order:
        return chosen
    return sorted(chosen, key=lambda task: _place(config.seed, config.order, task.id))


def describe_order(tasks: Sequence[Task], config: RunConfig) -> dict[str, Any]:
    """For run.json: which order, of which seed, and the SHA-256 of the ids in it, one a line."""
    ids = "".join(f"{task.id}\n" for task in tasks)
    digest = hashlib.sha256(ids.encode("utf-8", "replace")).hexdigest()
    return {"number": config.order, "seed": config.seed if config.order else None, "sha256": digest}


def _place(seed: int, order: int, task_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{order}\n{task_id}".encode("utf-8", "replace")).digest()


def _known_ids(asked: Sequence[str], tasks: Sequence[Task], benchmark: str) -> None:
    known = {task.id for task in tasks}
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise UsageError(
            f"no task {unknown[0]!r} in {benchmark}: its ids are {tasks[0].id} to {tasks[-1].id}"
        )


def _matching(tasks: list[Task], benchmark: str, where: str) -> list[Task]:
    """Those that fulfil every condition of `label=value and label=value`."""
    for condition in where.split(" and "):
        label, _, value = (part.strip() for part in condition.partition("="))
        names = _label_names(tasks)
        if label not in names or not value:
            labels = ", ".join(names)
            raise UsageError(
                f"--where {condition.strip()!r} is not LABEL=VALUE: the labels are {labels}; "
                'such as "mid=Aircraft and split=public"'
            )
        had = sorted({found for task in tasks if (found := task.labels.value(label)) is not None})
        tasks = [task for task in tasks if task.labels.value(label) == value]
        if not tasks:
            raise UsageError(
                f"--where {where!r}: no task of {benchmark} is left with {label}={value}: "
                f"{label} is {', '.join(had[:20])}"
            )
    return tasks


def _label_names(tasks: Sequence[Task]) -> list[str]:
    """The labels that every task has, then the facets that some have."""
    return [
        *(name for name in Labels.model_fields if name != "facets"),
        *sorted({name for task in tasks for name in task.labels.facets}),
    ]
