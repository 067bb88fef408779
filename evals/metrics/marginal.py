"""How often episodes are right that used a tool, and those that did not: what goes together, no cause."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.acts import EpisodeActs
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Interval, Share, wilson


class MarginalRow(BaseModel):
    """Correct of the episodes that are done and called `tool` (the innermost call), and of all others.

    The intervals are Wilson's 95 %; None with several epochs, whose episodes are no independent samples.
    """

    tool: str
    used: Share
    used_interval: Interval | None
    unused: Share
    unused_interval: Interval | None


def marginal(cells: list[Cell], acts: Mapping[tuple[str, int], EpisodeActs | None]) -> list[MarginalRow]:
    """A row a tool, most used first; episodes without a readable trace are left out."""
    done = [
        (cell.outcome in CORRECT, {deep.name for act in found.acts for deep in act.innermost})
        for cell in cells
        if cell.outcome in DONE and (found := acts.get((cell.id, cell.epoch)))
    ]
    once = len({cell.epoch for cell in cells}) == 1
    rows = [_row(tool, done, once) for tool in {name for _, names in done for name in names}]
    return sorted(rows, key=lambda row: (-row.used.n, row.tool))


def _row(tool: str, done: list[tuple[bool, set[str]]], once: bool) -> MarginalRow:
    used, unused = ([right for right, names in done if (tool in names) is using] for using in (True, False))
    shares = [Share.of(sum(group), len(group)) for group in (used, unused)]
    intervals = [wilson(share) if once else None for share in shares]
    return MarginalRow(
        tool=tool, used=shares[0], used_interval=intervals[0], unused=shares[1], unused_interval=intervals[1]
    )
