"""The report as one self-contained HTML file: no script, no network, nothing private."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fieldmark import __version__
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import headline, marks, number, percent
from fieldmark.evals.report.plots import Plot
from fieldmark.evals.report.table import Table
from fieldmark.evals.report.tables import comparisons, tables

_TEMPLATE = "report.html.j2"
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which HTML forbids, and marks that turn the text after them around."""


def render_html(summaries: list[Summary], compared: Sequence[Table] = (), plots: Sequence[Plot] = ()) -> str:
    """One page for one or several runs. It holds answers and verdicts, no gold and no judge's reasons.

    `plots` and `compared`, tables, stand first; without any, several runs are compared by their headlines.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=percent, number=number)
    if not compared and len(summaries) > 1:
        compared = comparisons(summaries)
    return environment.get_template(_TEMPLATE).render(
        summaries=summaries,
        compared=compared,
        plots=plots,
        tables=tables,
        headline=headline,
        marks=marks,
        version=__version__,
        title=", ".join(summary.run.name for summary in summaries),
    )


def seen(value: Any) -> Any:
    """What a template prints; Markup that it made itself has no such characters left."""
    return _UNSEEN.sub("\ufffd", value) if type(value) is str else value


def write_html(
    summaries: list[Summary], path: Path, compared: Sequence[Table] = (), plots: Sequence[Plot] = ()
) -> None:
    """Write the page through a temporary neighbour; UsageError when the place cannot be written."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_bytes(render_html(summaries, compared, plots).encode("utf-8", "replace"))
        temporary.replace(path)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; name another place with --html FILE"
        ) from None
