"""One task in several runs: a column for each, their acts beside each other by number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.inspector.filters import failure_of
from fieldmark.evals.inspector.index import EpisodeRow, Index, Snapshot
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.inspector.overlay import Mark, Original, marks, original
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import pictures, texts
from fieldmark.evals.inspector.timeline import Step, steps
from fieldmark.evals.metrics.acts import Act, episode_acts
from fieldmark.rundir import episode_key
from fieldmark.trace import Event, ModelRequest

ACTS = 100
"""Acts of a run on the page."""


@dataclass(frozen=True)
class ShownAct:
    """An act, the step that tells of it, and the `seq` of the request that it was decided in."""

    act: Act
    step: Step | None
    request: int | None


@dataclass(frozen=True)
class Column:
    """A run's episode. `row` is None where the run has not finished the task; `total`: all its acts."""

    name: str
    row: EpisodeRow | None
    failure: str
    picture: Original | None
    marks: list[Mark]
    acts: list[ShownAct]
    total: int


def beside_page(runs: dict[str, Index], task_id: str, epoch: int) -> bytes:
    """`runs`: those that are compared, by name."""
    snapshots = {name: index.snapshot() for name, index in runs.items()}
    tasks = [run.tasks[task_id] for run in snapshots.values() if task_id in run.tasks]
    key = episode_key(task_id, epoch)
    return render(
        "beside.html.j2",
        task_id=task_id,
        epoch=epoch,
        key=key,
        task=tasks[0] if tasks else {},
        differs=_differs(tasks),
        gold=next((run.gold[task_id] for run in snapshots.values() if task_id in run.gold), None),
        columns=[_column(name, runs[name], run, key) for name, run in snapshots.items()],
        texts=texts,
        pictures=pictures,
        live=False,
    )


def same_task(library: Library, name: str, row: EpisodeRow) -> list[tuple[str, EpisodeRow]]:
    """(name, episode) of this task and epoch in each other run."""
    found = []
    for other, index in library.runs().items():
        try:
            row_there = index.snapshot().by_key.get(row.key)
        except UsageError:  # its run.json is broken
            continue
        if other != name and row_there and row_there.record.id == row.record.id:
            found.append((other, row_there))
    return found


def _column(name: str, index: Index, run: Snapshot, key: str) -> Column:
    row = run.by_key.get(key)
    if row is None:
        return Column(name, None, "", None, [], [], 0)
    events = list(index.trace(row))
    picture = original(run.tasks.get(row.record.id, {}), events)
    done = steps(events)
    acts = episode_acts(events).acts
    return Column(
        name=name,
        row=row,
        failure=failure_of(row),
        picture=picture,
        marks=marks(done, picture) if picture else [],
        acts=list(_shown(acts[:ACTS], done, events)),
        total=len(acts),
    )


def _shown(acts: Iterable[Act], done: list[Step], events: list[Event]) -> Iterable[ShownAct]:
    step_of = {event.seq: step for step in done for event in step.events}
    requests = [event.seq for event in events if isinstance(event, ModelRequest) and event.role == "agent"]
    for act in acts:
        before = [seq for seq in requests if seq < act.seq]
        yield ShownAct(act, step_of.get(act.seq), before[-1] if before else None)


def _differs(tasks: list[dict[str, Any]]) -> list[str]:
    """Which of question and picture are not the same in all these runs."""
    found = []
    if len({str(task.get("question")) for task in tasks}) > 1:
        found.append("question")
    if len({_picture(task) for task in tasks}) > 1:
        found.append("picture")
    return found


def _picture(task: dict[str, Any]) -> str:
    image = task.get("image")
    return str(image.get("blob")) if isinstance(image, dict) else ""
