"""A template filled in. What it prints is escaped: traces are written by strangers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fieldmark import __version__
from fieldmark.counting import counted
from fieldmark.evals.inspector.telling import SHORT
from fieldmark.evals.report.figures import interval, number, percent
from fieldmark.evals.report.text import seen


def render(template: str, **values: Any) -> bytes:
    """UTF-8; half a surrogate pair, which a trace can hold, becomes '?'. `template` is in this folder."""
    return render_in(Path(__file__).parent, template, **values)


def render_in(folder: Path, template: str, **values: Any) -> bytes:
    """The same with a template of another folder."""
    page = _environment(folder).get_template(template).render(**values, version=__version__)
    return page.encode("utf-8", "replace")


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=percent, number=number, interval=interval, segment=_segment)
    environment.filters.update(count_of=counted)
    environment.globals.update(SHORT=SHORT)
    return environment


def _segment(name: str) -> str:
    """A name as one part of a URL's path."""
    return quote(name, safe="", errors="replace")
