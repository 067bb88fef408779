"""How figures are written: fractions become per cent here and nowhere else, with their n beside them."""

from __future__ import annotations

from fieldmark.evals.metrics.accuracy import AccuracyRow
from fieldmark.evals.metrics.shares import Interval, Share
from fieldmark.evals.metrics.summary import Summary


def marks(summary: Summary) -> str:
    """What must stand beside a run's name: PARTIAL, what stood in for the pictures, no vision."""
    partial = " · PARTIAL" if summary.partial else ""
    partial += "" if summary.run.image == "full" else f" · image {summary.run.image}"
    return partial + ("" if summary.run.sees else " · no vision")


def headline(summary: Summary) -> str:
    """The main figure in one line, with every denominator named."""
    row = summary.accuracy.headline
    parts = [f"{count(share)} {name}" for name, share in _denominators(row)]
    ci = f", 95 % CI {interval(row.interval)}" if row.interval else ""
    partial = "PARTIAL: " if summary.partial else ""
    return f"{partial}{percent(row.strict.fraction)} % correct ({'; '.join(parts)}{ci})"


def _denominators(row: AccuracyRow) -> list[tuple[str, Share]]:
    return [("done", row.strict), ("attempted", row.attempted), ("all tasks", row.all)]


def percent(fraction: float | None) -> str:
    """A fraction as per cent with one decimal; a dash where there is nothing to divide by."""
    return "–" if fraction is None else f"{100 * fraction:.1f}"


def points(fraction: float | None) -> str:
    """A difference of fractions in percentage points, with its sign."""
    return "–" if fraction is None else f"{100 * fraction:+.1f}"


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def count(share: Share) -> str:
    """`numerator/denominator`; the numerator has a decimal where epochs were averaged."""
    whole = abs(share.count - round(share.count)) < 1e-9
    return f"{round(share.count) if whole else format(share.count, '.1f')}/{share.n}"


def interval(value: Interval | None) -> str:
    return "–" if value is None else f"{percent(value.low)}–{percent(value.high)}"
