"""How far the types of a model agree with those that the benchmark has: per facet, Cohen's κ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fieldmark.evals.benchmarks.facets import Facets
from fieldmark.evals.failures.agreement import Agreement, agreement
from fieldmark.task import Task

GIVEN, MODEL = "given", "model"


def with_given(tasks: Sequence[Task], found: Facets) -> Mapping[str, Agreement]:
    """Facet → agreement, over the tasks that both have typed; only facets that the benchmark has."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for task in tasks:
        for name, value in found.get(task.id, {}).items():
            given = task.labels.facets.get(name)
            if given is not None:
                pairs.setdefault(name, []).append((given, value))
    return {name: agreement(GIVEN, MODEL, each) for name, each in pairs.items()}
