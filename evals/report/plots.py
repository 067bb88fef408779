"""Plots as Vega-Lite specifications, drawn as inline SVG when a page is written.

Vega-Lite through vl-convert, not Plotly: the SVG is drawn here, offline, so that a page holds no script for
it (Plotly's takes megabytes of each page), and a plot is some 10 kB without a style that a strict content
security policy would refuse. Its colours are variables of the page's style: one SVG for light, dark, print.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from fieldmark.evals.metrics.shares import Interval
from fieldmark.evals.report.text import one_line

WIDTH, ROW = 430, 26
"""Pixels of the scale, and of a row."""
LABEL = 44
"""Characters of a label that fit left of the scale."""
CHARACTER = 7
"""Pixels that a character of a label takes at most, on an average."""
_QUIET = {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "titleFontWeight": "normal"}
_CONFIG = {
    "aria": False,
    "background": None,
    "font": "Arial, Liberation Sans, Helvetica, sans-serif",
    "view": {"stroke": None},
    "axis": {
        **_QUIET, "labelFontSize": 12, "titleFontSize": 12,
        "gridColor": "var(--line)", "domainColor": "var(--line)", "tickColor": "var(--line)",
    },
    "legend": {**_QUIET, "labelFontSize": 12, "labelLimit": 330, "orient": "bottom", "columns": 2,
        "columnPadding": 60, "title": None,
    },
}  # fmt: skip
"""`aria` is off: the SVG is one image with a label, and its figures stand in a table beside it."""


@dataclass(frozen=True)
class Mark:
    """One row: fractions 0–1, differences −1–1; `value` None: nothing is drawn."""

    label: str
    value: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class Plot:
    """A figure of a report; `spec` is Vega-Lite, with its data."""

    title: str
    note: str
    spec: dict[str, Any]


def draw(plot: Plot) -> Markup:
    """The SVG element, for HTML; labels are escaped by Vega."""
    import vl_convert  # V8 and all: 1 s, for pages alone

    spec = {**plot.spec, "$schema": "https://vega.github.io/schema/vega-lite/v6.json", "config": _CONFIG}
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    _, _, body = svg.partition('version="1.1" class="marks" ')
    return Markup('<svg role="img" aria-label="{label}" ').format(label=one_line(plot.title)) + Markup(body)


def whiskers(title: str, note: str, marks: Sequence[Mark], *, signed: bool = False) -> Plot:
    """A dot with its interval a row, over per cent; `signed`: points from −100 to 100."""
    dot = {"type": "circle", "size": 70, "color": "var(--mark)", "opacity": 1}
    return Plot(title, note, _rows(marks, dot, [-100 if signed else 0, 100]))


def bars(title: str, note: str, marks: Sequence[Mark]) -> Plot:
    """A bar from 0 with its interval a row, over per cent."""
    bar = {"type": "bar", "color": "var(--bar)", "height": {"band": 0.6}}
    return Plot(title, note, _rows(marks, bar, [0, 100]))


def _rows(marks: Sequence[Mark], mark: dict[str, Any], domain: list[int]) -> dict[str, Any]:
    names = labels(each.label for each in marks)
    values = [
        {"label": name, "value": _percent(each.value), **_ends(each)}
        for name, each in zip(names, marks, strict=True)
    ]
    x = {"type": "quantitative", "scale": {"domain": domain}, "axis": {"title": None, "tickCount": 5}}
    return {
        "width": WIDTH,
        "height": {"step": ROW},
        "data": {"values": values},
        "encoding": {"y": named("label", names)},
        "layer": [
            {"mark": mark, "encoding": {"x": {**x, "field": "value"}}},
            {
                "mark": {"type": "rule", "color": "var(--ink)", "strokeWidth": 1.5},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
        ],
    }


def named(field: str, names: Sequence[str]) -> dict[str, Any]:
    """A row for each label, also where nothing is drawn, with room for labels in fonts wider than the one
    that Vega measures with.
    """
    axis = {
        "title": None, "labelColor": "var(--ink)", "ticks": False, "domain": False, "labelLimit": 0,
        "labelPadding": 9,
        "minExtent": CHARACTER * max(map(len, names), default=0),
    }  # fmt: skip
    return {"field": field, "type": "nominal", "sort": None, "scale": {"domain": list(names)}, "axis": axis}


def _ends(mark: Mark) -> dict[str, float | None]:
    if mark.interval is None:
        return {"low": None, "high": None}
    return {"low": _percent(mark.interval.low), "high": _percent(mark.interval.high)}


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else round(100 * fraction, 2)


def labels(names: Iterable[str]) -> list[str]:
    """Each on one line, shortened, and unlike all others: equal ones would be drawn in one place."""
    found: list[str] = []
    for name in names:
        text = one_line(name)
        text = text if len(text) <= LABEL else f"{text[: LABEL - 1]}…"
        while text in found:
            text += " "
        found.append(text)
    return found
