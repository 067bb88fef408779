"""The episodes behind a figure: the same fields, with the same meaning, as a filter of `fieldmark view`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.episode_rows import FACET, EpisodeRow

_TITLES = {"top": "category", "at": "ended at"}
_ASKED = {"at": "ended"}
"""What is called otherwise in the addresses of `fieldmark view`."""


@dataclass(frozen=True)
class Selection:
    """Episodes of one run whose row has each of these values, and took `least` seconds of wall time; without
    any, all of them.
    """

    fields: tuple[tuple[str, str], ...]
    least: float | None = None

    @classmethod
    def of(cls, **fields: str) -> Selection:
        """`verdict`, `failure`, `status`, `at` and labels, a facet as `facet.<name>`; one that is "all" is
        not asked for.
        """
        return cls(tuple((name, value) for name, value in fields.items() if value != ALL))

    def lasting(self, least: float) -> Selection:
        """Of these episodes those of so many seconds and more."""
        return replace(self, least=least)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.fields)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(value for _, value in self.fields)

    def holds(self, row: EpisodeRow) -> bool:
        long = self.least is None or row.seconds >= self.least
        return long and all(row.value(name) == value for name, value in self.fields)

    def address(self, view: str) -> str:
        """Where `fieldmark view` shows the same; `view` is the run's name in its addresses."""
        asked = [(_ASKED.get(name, name), value) for name, value in self.fields]
        least = [] if self.least is None else [("least", f"{self.least:g}")]
        query = urlencode(asked + least, errors="replace")
        return f"/run/{quote(view, safe='', errors='replace')}/" + (f"?{query}" if query else "")

    @property
    def title(self) -> str:
        """The same in words."""
        told = [f"{_TITLES.get(name, name.removeprefix(FACET))} {value}" for name, value in self.fields]
        told += [] if self.least is None else [f"at least {self.least:g} s"]
        return ", ".join(told) or "all"
