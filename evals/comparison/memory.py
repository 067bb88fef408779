"""What the arms of a study that have a memory noted, and which of their episodes read it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from fieldmark import jsonl
from fieldmark.evals.comparison.paired import Side
from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.outcomes import DONE
from fieldmark.evals.metrics.shares import Share
from fieldmark.records import EpisodeRecord
from fieldmark.trace import MemoryRead


class MemoryUse(BaseModel):
    """One arm over all its orders. `notes` that its memories hold; `readings`: notes read in all, one counted
    once an episode; `readers`: episodes that read any, of `episodes`.

    `correct` are those done among the readers: they are other tasks than those that read nothing, so the two
    do not compare. What a memory does, the arms compared say.
    """

    arm: str
    notes: int
    readings: int
    readers: int
    episodes: int
    correct: Share


def memory_use(arm: str, sides: Iterable[Side]) -> MemoryUse | None:
    """None where the arm has no memory."""
    mine = [side for side in sides if side.run.config().get("memory")]
    if not mine:
        return None
    cells = [(cell, _read(side, cell.record)) for side in mine for cell in side.cells if cell.record]
    readers = [cell for cell, read in cells if read]
    done = [cell for cell in readers if cell.outcome in DONE]
    return MemoryUse(
        arm=arm,
        notes=sum(len(jsonl.read(side.run.memory_file).rows) for side in mine),
        readings=sum(read for _, read in cells),
        readers=len(readers),
        episodes=len(cells),
        correct=Share.of(sum(cell.outcome in CORRECT for cell in done), len(done)),
    )


def _read(side: Side, record: EpisodeRecord) -> int:
    """How many notes an episode read: in its prompt, or by asking."""
    events = (event for event in side.run.trace(record) if isinstance(event, MemoryRead))
    return len({str(hit["note"]) for event in events for hit in event.hits})
