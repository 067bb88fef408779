"""Out of the folder of a run in form `native`: which files each episode left, and which it began with."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.memory.history import wave_of
from fieldmark.memory.state import StateRow, name_of, read_states, state_before
from fieldmark.rundir import RunDir
from fieldmark.trace import MemoryState


class StateHistory(BaseModel):
    """`states`: what was left, in the order of the log. `withheld`: files that hold gold and were not kept;
    None where the private part is not here. `readers` are the episodes that began with any file.
    """

    mode: str
    states: list[StateRow]
    withheld: int | None
    readers: int


def is_native(run: RunDir) -> bool:
    """Whether a run carried the files of its agent."""
    return bool(run.config().get("memory", {}).get("form") == "native")


def state_history(run: RunDir) -> StateHistory:
    """What became of the files of a run."""
    began = [_began(run, record.id, record.epoch) for record in run.episodes()]
    kept_back = jsonl.read(run.memory_withheld_file).rows
    return StateHistory(
        mode=str(run.config()["memory"].get("mode", "?")),
        states=read_states(run.memory_file),
        withheld=len(kept_back) if run.private.exists() else None,
        readers=sum(bool(event and event.files) for event in began),
    )


def state_of(run: RunDir, task_id: str, epoch: int = 0) -> dict[str, Any]:
    """What an episode began with, or would now: `{state, files, bytes}`. UsageError: the log has changed."""
    wave, began = wave_of(run, task_id, epoch), _began(run, task_id, epoch)
    row = state_before(read_states(run.memory_file), wave, epoch, began.known if began else None)
    state = row.state if row else name_of({})
    if began and began.state != state:
        raise UsageError(
            f"{run.memory_file} is not what {task_id!r} read in epoch {epoch}: a line was changed or removed"
        )
    return {"state": state, "files": row.files if row else 0, "bytes": row.bytes if row else 0}


def _began(run: RunDir, task_id: str, epoch: int) -> MemoryState | None:
    for record in run.episodes():
        if record.key == (task_id, epoch):
            for event in run.trace(record):
                if isinstance(event, MemoryState) and event.at == "lease":
                    return event
    return None
