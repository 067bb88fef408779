"""The episodes behind a figure: the same fields, with the same meaning, as a filter of `fieldmark view`."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.episode_rows import EpisodeRow

_TITLES = {"top": "category", "at": "ended at"}


@dataclass(frozen=True)
class Selection:
    """Episodes of one run whose row has each of these values; without any, all of them."""

    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, **fields: str) -> Selection:
        """`verdict`, `failure`, `status`, `split`, `top` and `at`; one that is "all" is not asked for."""
        return cls(tuple((name, value) for name, value in fields.items() if value != ALL))

    def holds(self, row: EpisodeRow) -> bool:
        return all(getattr(row, name) == value for name, value in self.fields)

    def address(self, view: str) -> str:
        """Where `fieldmark view` shows the same; `view` is the run's name in its addresses."""
        query = urlencode(self.fields, errors="replace")
        return f"/run/{quote(view, safe='', errors='replace')}/" + (f"?{query}" if query else "")

    @property
    def title(self) -> str:
        """The same in words."""
        return ", ".join(f"{_TITLES.get(name, name)} {value}" for name, value in self.fields) or "all"
