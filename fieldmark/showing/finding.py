"""Which episode a person means: by task id, the beginning of one, or the name of its trace."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from fieldmark.counting import counted
from fieldmark.errors import UsageError
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir, episode_key
from fieldmark.showing.visible import one_line

SHOWN = 5
"""Ids that an error names."""
_ID = 80


def find_episode(folder: RunDir, task: str, epoch: int | None) -> EpisodeRecord:
    """The episode of a task; without `epoch` its first. UsageError: unknown, ambiguous, not run."""
    records = {record.key: record for record in folder.episodes()}
    for record in records.values():
        if task == episode_key(*record.key) and epoch in (None, record.epoch):
            return record
    ids = list(dict.fromkeys([*(str(row.get("id")) for row in folder.tasks()), *(key[0] for key in records)]))
    task_id = _task(folder, task, ids)
    epochs = sorted(each for its_id, each in records if its_id == task_id)
    if not epochs:
        raise UsageError(f"task {_named([task_id])} has no episode yet: name another, or --resume the run")
    wanted = epochs[0] if epoch is None else epoch
    if wanted not in epochs:
        raise UsageError(
            f"task {_named([task_id])} has no episode in epoch {wanted}: it has {', '.join(map(str, epochs))}"
        )
    return records[task_id, wanted]


def _task(folder: RunDir, task: str, ids: Sequence[str]) -> str:
    if task in ids:
        return task
    begun = [each for each in ids if task and task in (each[: len(task)], episode_key(each)[: len(task)])]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageError(f"{task!r} begins {counted(len(begun), 'task')}: {_named(begun)}: give more of it")
    near = difflib.get_close_matches(task, ids, SHOWN, 0.4)
    told = f"near: {_named(near)}" if near else f"its tasks: {_named(ids)}"
    raise UsageError(f"no task {task!r} in {folder.path} ({told}): name one by its id or its beginning")


def _named(ids: Iterable[str]) -> str:
    ids = list(ids)
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(one_line(each, _ID) for each in ids[:SHOWN]) + more
