"""One table of a report, as text, before it is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """The `text_columns` leftmost columns hold text, the others figures; `totals` index the total rows.

    `wraps` names a column on the right that holds text too.
    """

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]
    text_columns: int = 1
    totals: frozenset[int] = frozenset()
    wraps: str = ""

    def is_text(self, place: int) -> bool:
        """Whether the column at that index is aligned as text."""
        return place < self.text_columns or self.columns[place] == self.wraps
