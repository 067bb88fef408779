"""Which episodes of a run are shown, and in which order: all of it stands in the URL."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fieldmark.evals.inspector.facts import FACTS
from fieldmark.evals.inspector.index import EpisodeRow, Index
from fieldmark.evals.inspector.search import Found
from fieldmark.evals.metrics.chain import NO_STAGE
from fieldmark.evals.metrics.episode_rows import FACET, failure_name
from fieldmark.evals.metrics.failures import LEFT_OPEN
from fieldmark.evals.metrics.outcomes import NONE

PAGE = 100
"""Episodes on a page."""


def failure_of(row: EpisodeRow) -> str:
    """The class of a wrong answer; "left open" where nothing decided yet; "" where there is none."""
    return failure_name(row.cell, row.failure)


def broken_at(row: EpisodeRow) -> str:
    """Which link of a wrong answer broke first, by Pix2Fact's scheme; "" where none was placed."""
    if row.broken is None:
        return ""
    return LEFT_OPEN if row.broken.by == "open" else row.broken.link or NO_STAGE


COLUMNS: dict[str, Callable[[EpisodeRow], Any]] = {
    "id": lambda row: row.record.id,
    "epoch": lambda row: row.record.epoch,
    "verdict": lambda row: row.cell.outcome,
    "failure": failure_of,
    "chain": broken_at,
    "status": lambda row: row.record.status,
    "split": lambda row: row.cell.split,
    "top": lambda row: row.cell.top,
    "mid": lambda row: row.cell.mid,
    "source": lambda row: row.cell.source,
    "language": lambda row: row.cell.language,
    "marked": lambda row: "yes" if row.marks else "no",
    "answer": lambda row: row.record.answer or "",
    "seconds": lambda row: row.record.seconds,
    "acts": lambda row: row.facts.trace.acts if row.facts else -1,
}
"""What can be sorted by."""
CHOICES = ("verdict", "failure", "chain", "status", "split", "top", "mid", "source", "language", "marked")
"""What can be chosen by value, beside facets as `facet.<name>`."""


def value_of(row: EpisodeRow, name: str) -> Any:
    """Of a column or a facet; "(none)" where an episode has no such facet."""
    if name.startswith(FACET):
        return row.cell.facets.get(name.removeprefix(FACET), NONE)
    return COLUMNS[name](row)


@dataclass(frozen=True)
class Fit:
    """Rows that fit, in order; `found` by the search in results, where there was one."""

    rows: list[EpisodeRow]
    found: Found | None = None


@dataclass(frozen=True)
class Filter:
    """What a URL asks for; a word that means nothing here is not asked for. Seconds are wall time.

    `at` is the action of the last act, or the boundary of an error (`last_step`); in a URL it is `ended`,
    since `at` is an event there.
    `text` is looked for in ids and answers and, with `results`, in what tools gave back.
    """

    chosen: dict[str, str] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    tool: str = ""
    at: str = ""
    text: str = ""
    results: bool = False
    least: float | None = None
    most: float | None = None
    sort: str = ""
    down: bool = False
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str], facts: Iterable[str] = ()) -> Filter:
        """From the fields of a query; `facts` are the values of `fact`, which may stand in it many times."""
        sort = query.get("sort", "")
        return cls(
            chosen={
                name: value
                for name, value in query.items()
                if value and (name in CHOICES or name.startswith(FACET))
            },
            facts=tuple(dict.fromkeys(name for name in facts if name in FACTS)),
            tool=query.get("tool", "").strip(),
            at=query.get("ended", "").strip(),
            text=query.get("q", "").strip(),
            results=query.get("in") == "results",
            least=_number(query.get("least")),
            most=_number(query.get("most")),
            sort=sort if sort in COLUMNS else "",
            down=query.get("down") == "1",
            page=max(1, int(_number(query.get("page")) or 1)),
        )

    @property
    def of_finished(self) -> bool:
        """Whether it asks for what only a finished episode has."""
        timed = self.least is not None or self.most is not None
        return bool(self.chosen or self.facts or self.tool or self.at or timed)

    def query(self, **changes: Any) -> str:
        """The same as a URL's query, with these fields changed; page 1 unless `page` says otherwise."""
        fields: dict[str, Any] = {
            **self.chosen, "fact": list(self.facts), "tool": self.tool, "ended": self.at, "q": self.text,
            "in": "results" if self.results else "",
            "least": _written(self.least), "most": _written(self.most), "sort": self.sort,
            "down": "1" if self.down else "",
        }  # fmt: skip
        fields |= changes
        return urlencode({name: value for name, value in fields.items() if value}, doseq=True)

    def sorted_by(self, column: str) -> str:
        """The query of the other order of this column."""
        again = self.sort == column and not self.down
        return self.query(sort=column, down="1" if again else "")

    def apply(self, rows: Iterable[EpisodeRow], index: Index) -> Fit:
        """The rows that fit, in order. Traces are opened only for a tool, a last act or words in results, and
        of these only those that all else left over.
        """
        fit = [row for row in rows if self._fits(row)]
        if self.tool:
            fit = [row for row in fit if self.tool in index.tools.of(row.record)]
        if self.at:
            fit = [row for row in fit if self.at == index.last_steps.of(row.record)]
        found = None
        if self.text and self.results:
            found = index.results.find([row.record for row in fit if not self._says(row)], self.text)
            fit = [row for row in fit if self._says(row) or row.record.key in found.keys]
        elif self.text:
            fit = [row for row in fit if self._says(row)]
        if self.sort:
            fit.sort(key=COLUMNS[self.sort], reverse=self.down)
        return Fit(fit, found)

    def _fits(self, row: EpisodeRow) -> bool:
        seconds = row.record.seconds
        return (
            all(value_of(row, name) == value for name, value in self.chosen.items())
            and all(FACTS[name].holds(row) for name in self.facts)
            and (self.least is None or seconds >= self.least)
            and (self.most is None or seconds <= self.most)
        )

    def _says(self, row: EpisodeRow) -> bool:
        """Whether the text stands in its answer or id."""
        text = self.text.casefold()
        return text in (row.record.answer or "").casefold() or text in row.record.id.casefold()


def values(rows: Iterable[EpisodeRow], name: str) -> list[tuple[str, int]]:
    """What can be chosen of a column: value and how many episodes of the run have it, most first."""
    counted = Counter(value_of(row, name) for row in rows)
    return [(value, count) for value, count in counted.most_common() if value]


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e9 else None


def _written(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
