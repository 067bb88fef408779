"""The episodes of a run as a table, filtered and sorted by the URL."""

from __future__ import annotations

from fieldmark.evals.inspector.facts import FACTS, holding
from fieldmark.evals.inspector.filters import CHOICES, PAGE, Filter, broken_at, failure_of, values
from fieldmark.evals.inspector.index import EpisodeRow, Index
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.unfinished import Unfinished
from fieldmark.evals.metrics.episode_rows import FACET
from fieldmark.evals.metrics.last_step import LAST_STEPS


def episodes_page(name: str, index: Index, asked: Filter) -> bytes:
    """One page of the episodes that fit."""
    run = index.snapshot()
    applied = asked.apply(run.rows, index)
    fit = applied.rows
    pages = max(1, -(-len(fit) // PAGE))
    page = min(asked.page, pages)
    private = index.folder.gold_file.exists()
    return render(
        "episodes.html.j2",
        name=name,
        run=run,
        asked=asked,
        rows=[
            (
                row,
                failure_of(row),
                broken_at(row),
                [FACTS[fact].title for fact in _told(holding(row), sees=run.about.sees)],
            )
            for row in fit[(page - 1) * PAGE : page * PAGE]
        ],
        unfinished=_unfinished(index, asked) if page == 1 else [],
        total=len(fit),
        found=applied.found,
        page=page,
        pages=pages,
        choices=_choices(run.rows, asked, private),
        facet=FACET,
        facts={key: fact.title for key, fact in FACTS.items() if private or not fact.private},
        epochs=len({row.record.epoch for row in run.rows}) > 1,
        steps=LAST_STEPS,
        live=run.running,
    )


def _choices(rows: list[EpisodeRow], asked: Filter, private: bool) -> dict[str, list[tuple[str, int]]]:
    """What can be chosen by value, with its values; what few benchmarks have only where there is a choice."""
    facets = dict.fromkeys(FACET + name for row in rows for name in row.cell.facets)
    found = {choice: values(rows, choice) for choice in [*CHOICES, *facets] if private or choice != "marked"}
    least = {"source": 2, "language": 2, "chain": 1, **dict.fromkeys(facets, 2)}
    return {
        choice: each
        for choice, each in found.items()
        if len(each) >= least.get(choice, 0) or choice in asked.chosen
    }


def _unfinished(index: Index, asked: Filter) -> list[Unfinished]:
    """Those that fit what can be asked of them: all else of a filter is about what is finished."""
    if asked.of_finished:
        return []
    text = asked.text.casefold()
    return [each for each in index.unfinished() if text in each.id.casefold()]


def _told(names: list[str], *, sees: bool) -> list[str]:
    """Those that are worth a mark in the table: what went wrong, not what is usual. A model that does not see
    gets no picture in any episode, as the run's own mark says already.
    """
    usual = {"looked", "searched"} | (set() if sees else {"no_picture"})
    return [name for name in names if name not in usual]
