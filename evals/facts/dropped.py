"""Whether an agent named a right answer on its way, and then gave another: right → wrong.

Read are the texts of its replies before the last (without thinking), the hypotheses of a ledger, and earlier
answers. To name is not to claim: "no Saab 340" names one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fieldmark.evals.facts.names import Names
from fieldmark.evals.facts.results import answered_at
from fieldmark.evals.facts.text import BREAK, Text, strings
from fieldmark.evals.metrics.turns import turns
from fieldmark.tools.model_text import without_thinking
from fieldmark.trace import Answer, Event, Log


def first_dropped(events: Sequence[Event], answer: str | None, names: Names) -> int | None:
    """The `seq` of the first word of it; None without an answer, or when that names it too."""
    if not (answer or "").strip() or names.in_text(Text(answer or "")):
        return None
    end = answered_at(events)
    said = sorted(_said(events), key=lambda each: each[0])
    return next((seq for seq, text in said if (end is None or seq < end) and names.in_text(Text(text))), None)


def _said(events: Sequence[Event]) -> Iterator[tuple[int, str]]:
    for turn in turns(events):
        if turn.response and turn.response.text and not turn.side:
            yield turn.response.seq, without_thinking(turn.response.text)
    for event in events:
        if isinstance(event, Answer):
            yield event.seq, event.text
        elif isinstance(event, Log):
            yield event.seq, BREAK.join(_hypotheses(event))


def _hypotheses(event: Log) -> list[str]:
    """The names in a ledger, as `forager` leaves it in its logs."""
    data: Any = (event.model_extra or {}).get("data")
    rows = data.get("hypotheses") if isinstance(data, dict) else None
    named = [row.get("name") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return list(strings(named))
