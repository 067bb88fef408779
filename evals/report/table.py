"""One table of a report, as text, before it is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """The `text_columns` leftmost columns hold text, the others figures; `totals` index the total rows.

    `wraps` names a column on the right that holds text too, `texts` index further ones.
    """

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]
    text_columns: int = 1
    totals: frozenset[int] = frozenset()
    wraps: str = ""
    texts: frozenset[int] = frozenset()

    def is_text(self, place: int) -> bool:
        """Whether the column at that index is aligned as text."""
        named = self.columns[place] == self.wraps
        return place < self.text_columns or place in self.texts or named
