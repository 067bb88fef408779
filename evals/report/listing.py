"""The episodes of a run on its page, and the links that choose among them.

A link leads to an element of its own; while that is the target of the address, a rule of the page's style
hides the rows that are not of its class. So it works without a script, and a printed page has every row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fieldmark.evals.metrics.episode_rows import EpisodeRow
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.selection import Selection

MOST = 2000
"""Episodes that a page lists, of all its runs: some 1 MB."""
LEAST = 50
"""Of each run, however many there are."""


@dataclass(frozen=True)
class Pick:
    """A selection with episodes: `count` of them, `listed` on the page; `name` is its place there."""

    name: str
    selection: Selection
    count: int
    listed: int


class Listing:
    """Of `summary`, the run at that index of the page. `rows` are what is listed, in run order."""

    def __init__(self, index: int, summary: Summary, selections: Iterable[Selection], room: int) -> None:
        self.prefix = f"r{index}"
        self.all = summary.episodes
        self.rows = _chosen(self.all, room)
        self.picks: dict[Selection, Pick] = {}
        for selection in dict.fromkeys(selections):
            count = sum(map(selection.holds, self.all))
            if count:
                name = f"{self.prefix}-s{len(self.picks)}"
                listed = sum(map(selection.holds, self.rows))
                self.picks[selection] = Pick(name, selection, count, listed)

    def classes(self, row: EpisodeRow) -> str:
        """The picks that hold a row, as the classes of its element."""
        return " ".join(pick.name for pick in self.picks.values() if pick.selection.holds(row))

    def style(self) -> str:
        """A rule for each pick."""
        rules = (
            f"#{pick.name}:target~.episodes tbody tr:not(.{pick.name}){{display:none}}"
            for pick in self.picks.values()
        )
        return "@media screen {\n" + "\n".join(rules) + "\n}\n"


def room(runs: int) -> int:
    """Episodes that each of so many runs may list."""
    return max(LEAST, MOST // max(1, runs))


def _chosen(rows: list[EpisodeRow], room: int) -> list[EpisodeRow]:
    """All, or as many as there is room for: first those that are not correct, as one looks for them."""
    if len(rows) <= room:
        return rows
    first = sorted(range(len(rows)), key=lambda place: (rows[place].verdict == "correct", place))[:room]
    return [rows[place] for place in sorted(first)]
