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
from fieldmark.trace import MemoryRead, MemoryState


class MemoryUse(BaseModel):
    """One arm over all its orders. `notes` that its memories hold; `readings`: notes read in all, one counted
    once an episode, or in form `native` files begun with; `readers`: episodes that read any, of `episodes`.

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
        notes=sum("note" in row for side in mine for row in jsonl.read(side.run.memory_file).rows),
        readings=sum(read for _, read in cells),
        readers=len(readers),
        episodes=len(cells),
        correct=Share.of(sum(cell.outcome in CORRECT for cell in done), len(done)),
    )


def _read(side: Side, record: EpisodeRecord) -> int:
    """How many notes an episode read, in its prompt or by asking; in form `native`: files it began with."""
    events = list(side.run.trace(record))
    reads = (event for event in events if isinstance(event, MemoryRead))
    states = [event for event in events if isinstance(event, MemoryState) and event.at == "lease"]
    return len({str(hit["note"]) for event in reads for hit in event.hits}) + sum(
        event.files for event in states
    )
