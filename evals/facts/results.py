"""What tools told an agent before it answered, and what of it the agent had written itself.

The results of skills, memory, to-do lists, sub-agents and `answer` are left out: what a sub-agent's own tools
told it stands in the trace by itself. A result whose call is unknown is left out too. Texts stand in the
events themselves, cut where they are long (`sandbox/gateway`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fieldmark.evals.facts.text import BREAK, Text, strings
from fieldmark.evals.metrics.acts import SIDES
from fieldmark.evals.metrics.turns import turns
from fieldmark.trace import Answer, Event, ToolCall, ToolResult

RETRIEVAL = frozenset({"reverse_image_search", "web_search", "open_page", "browser", "registry"})
"""Actions that look something up."""
LOOKING = frozenset({"image_inspection", "crop_zoom", "ocr"})
"""Actions that look at the picture."""
KEEPS = frozenset({"browser", "code_or_shell", "file", "other"})
"""Actions whose tools can show later what was written to them earlier."""


@dataclass(frozen=True)
class Result:
    """One result with its call. `earlier`: what the agent wrote before to tools that keep it."""

    event: ToolResult
    call: ToolCall
    earlier: tuple[str, ...] = field(default=(), repr=False)

    @property
    def seq(self) -> int:
        return self.event.seq

    @cached_property
    def text(self) -> Text:
        """All that it says, its data included."""
        return Text(BREAK.join([self.event.text, *strings(self.event.data)]))

    @cached_property
    def own(self) -> Text:
        """What the agent wrote itself, and the result may only repeat."""
        return Text(BREAK.join([*strings(self.call.arguments), *self.earlier]))


def answered_at(events: Sequence[Event]) -> int | None:
    """The `seq` of the model's reply that gave the answer; of the answer where no model was asked.

    None without an answer. What came later, and be it in calls of that same reply, did not lead to it.
    """
    answer = next((event for event in reversed(events) if isinstance(event, Answer)), None)
    if answer is None:
        return None
    main = [turn.response.seq for turn in turns(events) if turn.main and turn.response]
    return max((seq for seq in main if seq < answer.seq), default=answer.seq)


def results_before_answer(events: Sequence[Event]) -> list[Result]:
    """In order of arrival; all of them where there is no answer."""
    end = answered_at(events)
    return list(_results(event for event in events if end is None or event.seq < end))


def _results(events: Iterable[Event]) -> Iterator[Result]:
    calls: dict[tuple[bool, str], ToolCall] = {}
    kept: list[str] = []
    for event in events:
        if isinstance(event, ToolCall):
            calls[event.by == "gateway", event.call] = event
            if event.action in KEEPS:
                kept.extend(strings(event.arguments))
        elif isinstance(event, ToolResult):
            call = calls.get((event.by == "gateway", event.call))
            if call and not _is_side(call):
                yield Result(event, call, tuple(kept) if call.action in KEEPS else ())


def _is_side(call: ToolCall) -> bool:
    """As `acts.py` has it: the gateway's word where there is one, else the name."""
    told = call.by == "gateway" or call.tap is not None
    return (call.side if told else SIDES.get(call.name)) is not None
