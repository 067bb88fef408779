"""How long episodes took, drawn: the share that was finished by then, and quartiles by category."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any

from fieldmark.counting import counted
from fieldmark.evals.metrics.runtime import NEAR_LIMIT
from fieldmark.evals.metrics.spread import Spread
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.plots import ROW, WIDTH, Plot, labels, named

LINES = 7
"""Categories with a line of their own, those with most episodes: more cannot be told apart."""
LEAST = 0.1
"""Seconds: where the logarithmic scale begins at the earliest; what took less stands there."""
_COLOURS = [*(f"var(--c{number})" for number in range(1, LINES + 1)), "var(--ink)"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 4], [3, 4], [1, 0]]


def runtime_plots(summary: Summary) -> list[Plot]:
    """None where no episode ended by the agent's doing."""
    if not summary.spread:
        return []
    return [_finished(summary), _boxes(summary)]


def _finished(summary: Summary) -> Plot:
    total = summary.spread[-1]
    largest = sorted(summary.spread[:-1], key=lambda row: -row.n)[:LINES]
    shown = [*(row for row in summary.spread[:-1] if row in largest), total]
    names = _named(shown)
    colours = [*_COLOURS[: len(shown) - 1], _COLOURS[-1]]
    dashes = [*_DASHES[: len(shown) - 1], _DASHES[-1]]
    values = [each for row, name in zip(shown, names, strict=True) for each in _steps(row, name)]
    line = {
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": _seconds(summary),
            "y": {
                "field": "share", "type": "quantitative", "scale": {"domain": [0, 100]},
                "axis": {"title": "% of episodes finished", "tickCount": 5},
            },
            "color": {"field": "name", "type": "nominal", "scale": {"domain": names, "range": colours}},
            "strokeDash": {"field": "name", "type": "nominal", "scale": {"domain": names, "range": dashes}},
        },
    }  # fmt: skip
    note = f"Of {counted(total.n, 'episode')} that ended by the agent's doing, wall seconds.{_scale(summary)}"
    if len(shown) < len(summary.spread):
        note += f" Lines of the {LINES} categories with most episodes; the others are in the table."
    layers = [line, *_limits(summary, labelled=True)]
    return Plot(
        "Runtime: episodes finished by then", note, {"width": WIDTH + 90, "height": 240, "layer": layers}
    )


def _boxes(summary: Summary) -> Plot:
    names = _named(summary.spread)
    values = [
        {"name": name, **{key: max(LEAST, value) for key, value in row.model_dump(include=_FIVE).items()}}
        for row, name in zip(summary.spread, names, strict=True)
    ]
    x = _seconds(summary)
    y = named("name", names)
    marks: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"type": "rule", "color": "var(--soft)"}, {"x": {**x, "field": "low"}, "x2": {"field": "high"}}),
        (
            {"type": "bar", "color": "var(--bar)", "height": {"band": 0.55}},
            {"x": {**x, "field": "q1"}, "x2": {"field": "q3"}},
        ),
        ({"type": "tick", "color": "var(--ink)", "thickness": 2}, {"x": {**x, "field": "median"}}),
    ]
    layers = [{"mark": mark, "encoding": {"y": y, **encoding}} for mark, encoding in marks]
    spec = {
        "width": WIDTH,
        "height": {"step": ROW},
        "layer": [{"data": {"values": values}, "layer": layers}, *_limits(summary, labelled=False)],
    }
    note = f"Box: quartiles, mark: median, line: least to most.{_scale(summary)}"
    return Plot("Runtime by category", note, spec)


_FIVE = {"low", "q1", "median", "q3", "high"}


def _named(rows: Sequence[Spread]) -> list[str]:
    return labels(f"{row.top[:30]} (n = {row.n})" for row in rows)


def _steps(row: Spread, name: str) -> list[dict[str, Any]]:
    """From 0 up to 100 %: where only percentiles are kept, a step is one of them."""
    last = len(row.seconds) - 1
    shares = [
        100 * index / last if row.n > len(row.seconds) else 100 * (index + 1) / row.n
        for index in range(last + 1)
    ]
    points = [(row.low, 0.0), *zip(row.seconds, shares, strict=True)]
    return [
        {"name": name, "seconds": max(LEAST, seconds), "share": round(share, 2)} for seconds, share in points
    ]


def marks(limit: float | None) -> dict[float, str]:
    """Seconds → what is marked there: the paper's near-timeout region and the limit of the run."""
    found = {NEAR_LIMIT: f"{NEAR_LIMIT:g} s"} if limit is None or limit > NEAR_LIMIT else {}
    if limit and limit != 240:
        found[limit] = f"limit {limit:g} s"
    return found


def _limits(summary: Summary, *, labelled: bool) -> list[dict[str, Any]]:
    data = {"values": [{"seconds": at, "told": told} for at, told in marks(summary.run.limit).items()]}
    x = _seconds(summary)
    rule = {"type": "rule", "color": "var(--warn)", "strokeDash": [4, 3], "strokeWidth": 1.5}
    text = {"type": "text", "color": "var(--warn)", "align": "right", "dx": -4, "y": 8, "fontSize": 12}
    layers: list[dict[str, Any]] = [{"data": data, "mark": rule, "encoding": {"x": x}}]
    if labelled:
        layers.append({"data": data, "mark": text, "encoding": {"x": x, "text": {"field": "told"}}})
    return layers


def _seconds(summary: Summary) -> dict[str, Any]:
    """The same scale in both plots: whole steps of 1, 2, 5 around all that is drawn."""
    total = summary.spread[-1]
    ends = [max(LEAST, total.low), total.high, *marks(summary.run.limit)]
    low, high = _step_down(min(ends)), max(ends) * 1.15
    ticks = [
        base * 10.0**power
        for power in range(-1, 6)
        for base in (1, 2, 5)
        if low <= base * 10.0**power <= high
    ]
    return {
        "field": "seconds", "type": "quantitative", "scale": {"type": "log", "domain": [low, high]},
        "axis": {"title": "wall seconds, logarithmic", "values": ticks, "format": "~g", "labelOverlap": True},
    }  # fmt: skip


def _step_down(value: float) -> float:
    power = 10.0 ** floor(log10(value))
    return max(base * power for base in (1, 2, 5) if base * power <= value * 1.0000001)


def _scale(summary: Summary) -> str:
    told = " and ".join(marks(summary.run.limit).values())
    return f" The dashed line is at {told}."
