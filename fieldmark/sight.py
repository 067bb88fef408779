"""Whether the task picture reached the model of an agent, and stayed: counted over its requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fieldmark.records import Sight
from fieldmark.trace import Receipt


@dataclass(frozen=True)
class Shown:
    """One model call of the agent: what of the task picture it held, and what became of it.

    `main`: it is a step, no side call or retry. `tools` are those it offered. `partial`: it only goes on with
    a conversation that the server keeps. `http` is the status of the reply, 0 where there was none.
    """

    call: str
    receipt: Receipt | None
    tools: Sequence[str] = ()
    main: bool = True
    partial: bool = False
    http: int = 200

    @property
    def refused(self) -> bool:
        return self.http >= 400


def sight_of(shown: Sequence[Shown]) -> Sight:
    """The sight of an episode, from its agent's model calls in order."""
    taken = [one for one in shown if not one.refused]
    seen = [(one.call, one.receipt) for one in taken if one.receipt]
    refused = sum(one.refused and one.receipt is not None for one in shown)
    if not seen:
        return Sight(delivered="none", calls=len(taken), refused=refused)
    receipts = [receipt for _, receipt in seen]
    exact = [receipt for receipt in receipts if receipt.delivered == "exact"]
    largest = max(exact or receipts, key=lambda receipt: receipt.width * receipt.height)
    return Sight(
        delivered=largest.delivered, width=largest.width, height=largest.height, first_call=seen[0][0],
        lost_at=_lost_at(taken), calls=len(taken), with_picture=len(seen), refused=refused,
    )  # fmt: skip


def _lost_at(taken: list[Shown]) -> str | None:
    """The first call of the main conversation after the last one that held the picture.

    Calls that offer other tools than the first that held it are another conversation: a sub-agent's, a title.
    """
    first = next((place for place, one in enumerate(taken) if one.receipt and one.main), None)
    if first is None:
        return None
    same = [one for one in taken[first:] if one.main and list(one.tools) == list(taken[first].tools)]
    last = max(place for place, one in enumerate(same) if one.receipt or one.partial)
    return same[last + 1].call if last + 1 < len(same) else None
