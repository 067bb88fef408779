"""The answer event of an agent, cut to what one event may hold."""

from __future__ import annotations

import json
from typing import Any

from fieldmark.agents.base import AgentAnswer

TEXT_BYTES = 60_000
"""An answer's text at most; no answer to a recognition question is longer than a line."""

_EVENT_BYTES = 63_000  # below the gateway's 64 kB, with room for the field names
_RATIONALE_BYTES = 8_000
_EVIDENCE_BYTES = 4_000


def answer_event(answer: AgentAnswer) -> dict[str, Any]:
    """The fields of the event. `text` has the first claim on the room, `raw` the last."""
    room = _Room(_EVENT_BYTES)
    return {
        "text": room.take(answer.text, TEXT_BYTES),
        "confidence": answer.confidence,
        "evidence": _evidence(answer, room),
        "rationale": None if answer.rationale is None else room.take(answer.rationale, _RATIONALE_BYTES),
        "raw": room.take(answer.raw, _EVENT_BYTES),
    }


class _Room:
    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, text: str, most: int) -> str:
        """The longest beginning of `text` for which there is room."""
        kept = _cut(text, min(most, self.left))
        self.left -= _size(kept)
        return kept


def _evidence(answer: AgentAnswer, room: _Room) -> list[int | str]:
    shared = _Room(min(_EVIDENCE_BYTES, room.left))
    kept = [item for item in answer.evidence if shared.take(str(item), shared.left) == str(item)]
    room.left -= _size("".join(map(str, kept)))
    return kept


def _cut(text: str, limit: int) -> str:
    """The longest beginning whose JSON takes at most `limit` bytes."""
    if _size(text) <= limit:
        return text
    low, high = 0, min(len(text), limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(text[:middle]) <= limit else (low, middle - 1)
    return text[:low]


def _size(text: str) -> int:
    """Bytes as they travel: the client escapes everything beyond ASCII."""
    return len(json.dumps(text)) - 2
