"""An agent against the closed-book run of the same model: where its tools helped, and where they hurt."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from fieldmark.evals.comparison.differences import CLOSED_BOOK
from fieldmark.evals.comparison.paired import Side, rights
from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.shares import Interval, Share, wilson

Outcome = Literal["helped", "hurt", "both", "neither"]
OUTCOMES: dict[tuple[bool, bool], Outcome] = {
    (True, False): "helped",
    (False, True): "hurt",
    (True, True): "both",
    (False, False): "neither",
}
"""(agent right, closed book right) → what that is called."""


class TwinRow(BaseModel):
    """`share`: tasks of this outcome, of the paired tasks of a category; Wilson's 95 % `interval`."""

    top: str
    outcome: Outcome
    share: Share
    interval: Interval | None


class Twin(BaseModel):
    """`rows`: category by category the four outcomes, all categories last."""

    agent: str
    closed_book: str
    rows: list[TwinRow]


def twin(a: Side, b: Side) -> Twin | None:
    """None unless one of the two is the closed book of the other's model."""
    closed = [side for side in (a, b) if side.run.config().get("agent") == CLOSED_BOOK]
    if len(closed) != 1 or _model(a) != _model(b):
        return None
    agent = b if closed[0] is a else a
    right = rights(agent, closed[0])
    tops = sorted({agent.tops[task] for task in right})
    groups = {top: [right[task] for task in right if agent.tops[task] == top] for top in tops}
    rows = [row for top, group in groups.items() for row in _rows(top, group)]
    return Twin(agent=agent.name, closed_book=closed[0].name, rows=[*rows, *_rows(ALL, [*right.values()])])


def _rows(top: str, group: list[tuple[bool, bool]]) -> list[TwinRow]:
    shares = {outcome: Share.of(group.count(pair), len(group)) for pair, outcome in OUTCOMES.items()}
    return [
        TwinRow(top=top, outcome=outcome, share=share, interval=wilson(share))
        for outcome, share in shares.items()
    ]


def _model(side: Side) -> str | None:
    model = side.run.config().get("model")
    return model.get("name") if isinstance(model, dict) else None
