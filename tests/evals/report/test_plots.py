"""Plots as they are drawn: text and lines of an SVG in the page, in the colours of its style."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fieldmark.evals.metrics.shares import Interval
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.plots import Mark, bars, draw, labels, whiskers
from fieldmark.evals.report.runtime_plots import marks, runtime_plots

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def test_a_bar_has_its_length_its_interval_and_its_name() -> None:
    svg = draw(bars("Failures", "", [Mark("a (1/4)", 0.25, Interval(low=0.05, high=0.7)), Mark("b", None)]))
    assert svg.startswith('<svg role="img" aria-label="Failures"')
    assert {"a (1/4)", "b", "0", "100"} <= set(words(svg))
    assert "h107.5v" in svg  # a quarter of the 430 pixels
    assert 'x2="279.5"' in svg  # 0.65 of them
    assert not any(word in svg for word in ("http", "style=", "<script", "#", "id="))


def test_a_difference_may_lie_on_either_side_of_zero() -> None:
    plot = whiskers("Difference", "", [Mark("less", -0.5, Interval(low=-0.75, high=-0.25))], signed=True)
    assert {"−100", "0", "100"} <= set(words(draw(plot)))


def test_labels_stay_apart_and_are_escaped() -> None:
    long = "a name that is much too long to stand beside a scale, whatever"
    found = labels([long, long, "two\nlines\x1b", "<b>"])
    assert len(set(found)) == 4
    assert found[2] == "two lines\ufffd"
    svg = draw(bars("<i>", "", [Mark(name, 0.5) for name in found]))
    assert "&lt;b&gt;" in svg
    assert "<b>" not in svg
    assert "&lt;i&gt;" in svg


def test_the_runtime_is_drawn_with_the_mark_near_the_limit(build_run: BuildRun) -> None:
    run = build_run(limits={"seconds": 120.0})
    for number, seconds in enumerate([0.0, 3.0, 30.0, 119.0]):
        run.task(f"t{number}", top="Nature" if number % 2 else "Culture")
        run.episode(f"t{number}", verdict="correct", seconds=seconds)
    finished, boxes = runtime_plots(summarise(run.finish()))
    assert {"limit 120 s", "Nature (n = 2)", "Culture (n = 2)", "all (n = 4)"} <= set(words(draw(finished)))
    assert {"Nature (n = 2)", "all (n = 4)"} <= set(words(draw(boxes)))
    assert "NaN" not in draw(finished) + draw(boxes)


def test_the_papers_mark_stands_where_the_limit_allows_it() -> None:
    assert list(marks(None)) == list(marks(240.0)) == [239.0]
    assert list(marks(60.0)) == [60.0]
    assert list(marks(600.0)) == [239.0, 600.0]
