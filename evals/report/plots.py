"""A plot of shares or differences with their intervals, as inline SVG: no script, no colour of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from fieldmark.evals.metrics.shares import Interval

LEFT, RIGHT, ROW, TOP = 300, 760, 22, 8
"""Pixels: where the scale begins and ends, the height of a row, the room above the first."""
_LABEL = 42
"""Characters of a label that fit left of the scale."""


@dataclass(frozen=True)
class Mark:
    """One row: fractions 0–1, differences −1–1; `value` None: nothing is drawn."""

    label: str
    value: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Plot:
    """A figure of a report."""

    title: str
    note: str
    svg: Markup


def whiskers(title: str, note: str, marks: Sequence[Mark], *, signed: bool = False) -> Plot:
    """A dot with its interval a row, over per cent; `signed`: points from −100 to 100."""
    low = -1.0 if signed else 0.0
    height = TOP + ROW * len(marks) + 20
    parts = [_grid(low, height), *(_row(place, mark, low) for place, mark in enumerate(marks))]
    svg = Markup(
        '<svg viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{title}" '
        'style="max-width:100%;height:auto" fill="currentColor" stroke="currentColor" font-size="13">'
        "{parts}</svg>"
    ).format(w=RIGHT + 20, h=height, title=title, parts=Markup("").join(parts))
    return Plot(title, note, svg)


def _x(value: float, low: float) -> float:
    return round(LEFT + (value - low) / (1 - low) * (RIGHT - LEFT), 1)


def _grid(low: float, height: int) -> Markup:
    ticks = [low + step * (1 - low) / 4 for step in range(5)]
    return Markup("").join(
        Markup(
            '<line x1="{x}" x2="{x}" y1="{top}" y2="{end}" stroke-opacity="{shade}"/>'
            '<text x="{x}" y="{y}" text-anchor="middle" stroke="none">{tick}</text>'
        ).format(
            x=_x(tick, low), top=TOP, end=height - 18, y=height - 4, tick=f"{100 * tick:g}",
            shade=0.6 if tick == 0 else 0.2,
        )
        for tick in ticks
    )  # fmt: skip


def _row(place: int, mark: Mark, low: float) -> Markup:
    y = TOP + ROW * place + ROW / 2
    label = mark.label if len(mark.label) <= _LABEL else f"{mark.label[: _LABEL - 1]}…"
    drawn = Markup('<text x="{x}" y="{y}" text-anchor="end" stroke="none">{label}</text>').format(
        x=LEFT - 10, y=y + 4, label=escape(label)
    )
    if mark.interval:
        drawn += Markup('<line x1="{a}" x2="{b}" y1="{y}" y2="{y}" stroke-width="2"/>').format(
            a=_x(mark.interval.low, low), b=_x(mark.interval.high, low), y=y
        )
    if mark.value is not None:
        drawn += Markup('<circle cx="{x}" cy="{y}" r="4"/>').format(x=_x(mark.value, low), y=y)
    return drawn
