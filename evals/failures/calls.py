"""The calls of an episode with the events of their results, for citing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fieldmark.evals.metrics.acts import SIDES
from fieldmark.trace import Action, Event, ToolCall, ToolResult

LOOK_UPS: frozenset[Action] = frozenset(
    {"reverse_image_search", "web_search", "open_page", "browser", "registry"}
)
"""Actions that bring something from outside the picture."""
LOOKS: frozenset[Action] = frozenset({"image_inspection", "crop_zoom", "ocr"})
"""Actions that look at the picture."""


@dataclass(frozen=True)
class Call:
    """`seq` is that of its result, or of the call where none came. `ok` is None then."""

    action: Action
    ok: bool | None
    seq: int


def calls_of(events: Sequence[Event]) -> list[Call]:
    """All calls that can bring something new, also those that the agent made without its model."""
    results = {(e.by == "gateway", e.call): e for e in events if isinstance(e, ToolResult)}
    found = []
    for event in events:
        if isinstance(event, ToolCall) and event.side is None and event.name not in SIDES:
            result = results.get((event.by == "gateway", event.call))
            found.append(
                Call(event.action, result.ok if result else None, result.seq if result else event.seq)
            )
    return found
