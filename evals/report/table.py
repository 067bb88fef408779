"""One table of a report, as text, before it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fieldmark.evals.report.selection import Selection

Place = tuple[int, int]
"""(row, column) of a cell."""


@dataclass(frozen=True)
class Table:
    """The `text_columns` leftmost columns hold text, the others figures; `totals` index the total rows.

    `wraps` names a column on the right that holds text too, `texts` index further ones. For a page:
    `shades`, the fractions 0–1 that colour a cell, and `behind`, the episodes that a cell counts.
    """

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]
    text_columns: int = 1
    totals: frozenset[int] = frozenset()
    wraps: str = ""
    texts: frozenset[int] = frozenset()
    shades: Mapping[Place, float] = field(default_factory=dict)
    behind: Mapping[Place, Selection] = field(default_factory=dict)

    def is_text(self, place: int) -> bool:
        """Whether the column at that index is aligned as text."""
        named = self.columns[place] == self.wraps
        return place < self.text_columns or place in self.texts or named
