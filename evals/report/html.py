"""The report as one self-contained HTML file: no network, nothing private, one script that only copies."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fieldmark import __version__
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.clusters import Cluster
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.cluster_table import selection_of
from fieldmark.evals.report.figures import headline, interval, marks, number, percent
from fieldmark.evals.report.listing import Listing, room
from fieldmark.evals.report.plots import Plot, draw
from fieldmark.evals.report.runs_tables import comparisons
from fieldmark.evals.report.sections import Section, sections
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table
from fieldmark.evals.report.text import seen
from fieldmark.evals.report.thumbnails import Thumbnails
from fieldmark.whole_file import write_whole

_HERE = Path(__file__).parent
_TEMPLATE = "report.html.j2"
CARDS = 6
"""Clusters that have pictures."""
PICTURES = 6
"""Of each of them, at most."""


@dataclass(frozen=True)
class Card:
    """One of the largest clusters of failures, with (task id, `data:` address) of some of its pictures."""

    cluster: Cluster
    selection: Selection
    pictures: list[tuple[str, str]]


@dataclass(frozen=True)
class RunPage:
    """What a page shows of one run."""

    summary: Summary
    sections: list[Section]
    listing: Listing
    cards: list[Card]


def render_html(
    summaries: list[Summary],
    compared: Sequence[Table] = (),
    plots: Sequence[Plot] = (),
    thumbnails: Thumbnails | None = None,
) -> str:
    """One page for one or several runs. It holds answers and verdicts, no gold and no judge's reasons.

    `plots` and `compared`, tables, stand first; without any, several runs are compared by their headlines.
    """
    if not compared and len(summaries) > 1:
        compared = comparisons(summaries)
    runs = [
        _run_page(index, summary, room(len(summaries)), thumbnails or Thumbnails())
        for index, summary in enumerate(summaries)
    ]
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    style += "".join(run.listing.style() for run in runs)
    script = (_HERE / "copy.js").read_text(encoding="utf-8")
    return _environment().get_template(_TEMPLATE).render(
        runs=runs,
        compared=compared,
        plots=plots,
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        version=__version__,
        title=", ".join(summary.run.name for summary in summaries),
    )  # fmt: skip


def write_html(
    summaries: list[Summary],
    path: Path,
    compared: Sequence[Table] = (),
    plots: Sequence[Plot] = (),
    thumbnails: Thumbnails | None = None,
) -> None:
    """UsageError when the place cannot be written."""
    try:
        page = render_html(summaries, compared, plots, thumbnails)
        write_whole(path, page.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; name another place with --html FILE"
        ) from None


def _run_page(index: int, summary: Summary, space: int, thumbnails: Thumbnails) -> RunPage:
    found = sections(summary)
    listing = Listing(index, summary, _selections(found, summary), space)
    cards = [_card(cluster, summary, thumbnails) for cluster in summary.clusters[:CARDS]]
    return RunPage(summary, found, listing, cards)


def _selections(found: list[Section], summary: Summary) -> Iterator[Selection]:
    for section in found:
        for table in [*section.first, *section.tables]:
            yield from table.behind.values()
    yield from map(selection_of, summary.clusters[:CARDS])


def _card(cluster: Cluster, summary: Summary, thumbnails: Thumbnails) -> Card:
    selection = selection_of(cluster)
    ids = (row.id for row in summary.episodes if selection.holds(row))
    return Card(cluster, selection, list(thumbnails.of(summary.run.view, ids, PICTURES)))


def _hash(text: str) -> str:
    """As a content security policy names an inline style or script."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8", "replace")).digest()).decode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(draw=draw, percent=percent, number=number, interval=interval)
    environment.globals.update(headline=headline, marks=marks)
    return environment
