"""The answer event of an agent, cut to what one event may hold."""

from __future__ import annotations

from typing import Any

from fieldmark.agents.base import AgentAnswer
from fieldmark.tools.cutting import cut_to_bytes, json_bytes

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
        "parsed_by": answer.parsed_by,
    }


class _Room:
    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, text: str, most: int) -> str:
        """The longest beginning of `text` for which there is room."""
        kept = cut_to_bytes(text, min(most, self.left))
        self.left -= json_bytes(kept)
        return kept


def _evidence(answer: AgentAnswer, room: _Room) -> list[int | str]:
    shared = _Room(min(_EVIDENCE_BYTES, room.left))
    kept = [item for item in answer.evidence if shared.take(str(item), shared.left) == str(item)]
    room.left -= json_bytes("".join(map(str, kept)))
    return kept
