"""The episodes of a run on its page, and the links that choose among them.

A link leads to an element of its own; while that is the target of the address, a rule of the page's style
hides the rows that are not of its class. So it works without a script, and a printed page has every row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
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
        asked = list(dict.fromkeys(selections))
        self._choosing = _Choosing(asked)
        count, listed = self._choosing.count(self.all), self._choosing.count(self.rows)
        held = [selection for selection in asked if count[selection]]
        self.picks: dict[Selection, Pick] = {
            selection: Pick(f"{self.prefix}-s{place}", selection, count[selection], listed[selection])
            for place, selection in enumerate(held)
        }

    def classes(self, row: EpisodeRow) -> str:
        """The picks that hold a row, as the classes of its element."""
        return " ".join(self.picks[selection].name for selection in self._choosing.of(row))

    def style(self) -> str:
        """A rule for each pick."""
        rules = (
            f"#{pick.name}:target~.episodes tbody tr:not(.{pick.name}){{display:none}}"
            for pick in self.picks.values()
        )
        return "@media screen {\n" + "\n".join(rules) + "\n}\n"


class _Choosing:
    """Which of many selections hold a row: one look for all that ask for the same fields, however many."""

    def __init__(self, selections: Iterable[Selection]) -> None:
        self._found: dict[tuple[tuple[str, ...], float | None], dict[tuple[str, ...], Selection]]
        self._found = defaultdict(dict)
        for selection in selections:
            self._found[selection.names, selection.least][selection.values] = selection

    def of(self, row: EpisodeRow) -> Iterator[Selection]:
        for (names, least), by_values in self._found.items():
            if least is None or row.seconds >= least:
                selection = by_values.get(tuple(map(row.value, names)))
                if selection is not None:
                    yield selection

    def count(self, rows: Iterable[EpisodeRow]) -> Counter[Selection]:
        return Counter(selection for row in rows for selection in self.of(row))


def room(runs: int) -> int:
    """Episodes that each of so many runs may list."""
    return max(LEAST, MOST // max(1, runs))


def _chosen(rows: list[EpisodeRow], room: int) -> list[EpisodeRow]:
    """All, or as many as there is room for: first those that are not correct, as one looks for them."""
    if len(rows) <= room:
        return rows
    first = sorted(range(len(rows)), key=lambda place: (rows[place].verdict == "correct", place))[:room]
    return [rows[place] for place in sorted(first)]
