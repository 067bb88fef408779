"""What `benchmarks.episodes` found: a line as it comes, tables in Markdown, plots."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._cost import Cost

MARK = "episodes"
"""The section of docs/performance.md."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
AGAINST = {"closed_book": ("floor (a)", 1.5), "react": ("floor (b)", 1.3)}
"""The floor of an agent and how many times that it may cost."""
HOST_SECONDS, FIRST_SECONDS, KILOBYTES = 0.15, 0.05, 6.0
"""An episode at most: host CPU; from lease to first model request; on disk beside pictures."""


@dataclass(frozen=True)
class Ran:
    """One `fieldmark run`. `first`, `ended`: seconds of each episode from lease to first model request, to
    its end without the model's.
    """

    cost: Cost
    whole: float
    """Processor seconds of the command from its start to its end, with imports, tables and report."""
    first: list[float]
    ended: list[float]
    beside: float
    """Wall seconds an episode, without the model's."""
    kilobytes: float
    """On disk an episode: its trace, its rows and the texts, which the run has once; no pictures."""
    megabytes: float
    """Peak memory of the command."""
    model: float
    """Seconds of an episode that are the model's."""


@dataclass
class Measured:
    """An agent at one parallelism: the rounds of its floor and its own; the best round counts."""

    agent: str
    parallel: int
    floors: list[Cost] = field(default_factory=list)
    runs: list[Ran] = field(default_factory=list)

    @property
    def against(self) -> str:
        return AGAINST[self.agent][0]

    def wall(self) -> tuple[float, float]:
        """Seconds an episode: floor, ours."""
        return min(cost.each for cost in self.floors), min(ran.beside for ran in self.runs)

    def cpu(self) -> tuple[float, float]:
        """Processor seconds an episode, of host and containers: floor, ours."""
        ours = [ran.cost for ran in self.runs]
        low, mine = (min((c.host + c.containers) / c.n for c in costs) for costs in (self.floors, ours))
        return low, mine

    def first(self) -> float:
        """Seconds from lease to first model request."""
        return min(statistics.median(ran.first) for ran in self.runs)


def line(each: Measured) -> str:
    """What is known of one so far."""
    wall, cpu = each.wall(), each.cpu()
    return (
        f"{each.agent}, parallel {each.parallel}, round {len(each.runs)}: "
        f"wall {wall[1]:.3f} s, {wall[1] / wall[0]:.2f} x {each.against}; "
        f"CPU {cpu[1]:.3f} s, {cpu[1] / cpu[0]:.2f} x; first request {1000 * each.first():.0f} ms"
    )


def as_markdown(found: list[Measured], n: int) -> str:
    """Both tables; `n` episodes a round. What is beyond what it may be is bold."""
    told = [
        f"{n} episodes a round, {min(len(each.runs) for each in found)} to "
        f"{max(len(each.runs) for each in found)} rounds:",
        "",
        "| | parallel | wall s: floor | ours | ratio (aim) | CPU s: floor | ours | ratio (aim) | host CPU s "
        "| first request ms | kB | command CPU s | MB |",
        "|---" * 13 + "|",
        *(_row(each) for each in found),
        "",
        "Where the time goes, medians in ms; containers wait warm while others play:",
        "",
        "| | parallel | create | start to lease | lease to first request | work beside the model | remove |",
        "|---" * 7 + "|",
        *(_phases(each) for each in found),
    ]
    return "\n".join(told)


def _row(each: Measured) -> str:
    wall, cpu, most = each.wall(), each.cpu(), AGAINST[each.agent][1]
    host = min(ran.cost.host / ran.cost.n for ran in each.runs)
    cells = (
        each.agent, str(each.parallel), f"{wall[0]:.3f}", f"{wall[1]:.3f}",
        f"{_marked(wall[1] / wall[0], most, 2)} ({most})", f"{cpu[0]:.3f}", f"{cpu[1]:.3f}",
        f"{_marked(cpu[1] / cpu[0], most, 2)} ({most})", _marked(host, HOST_SECONDS, 3),
        _marked(1000 * each.first(), 1000 * FIRST_SECONDS, 0),
        _marked(each.runs[0].kilobytes, KILOBYTES, 1), f"{min(ran.whole for ran in each.runs):.1f}",
        f"{max(ran.megabytes for ran in each.runs):.0f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _phases(each: Measured) -> str:
    best = min(each.runs, key=lambda ran: ran.beside)
    created, lived, removed = best.cost.phases
    first, ended = statistics.median(best.first), statistics.median(best.ended)
    waited = max(0.0, lived - ended - best.model)
    cells = (created, waited, first, ended - first, removed)
    return f"| {each.agent} | {each.parallel} | {' | '.join(f'{1000 * cell:.0f}' for cell in cells)} |"


def _marked(value: float, most: float, digits: int) -> str:
    return f"**{value:.{digits}f}**" if value > most else f"{value:.{digits}f}"


def plot(found: list[Measured], by_size: dict[tuple[str, float], Ran], path: Path) -> None:
    """Wall seconds an episode and memory of the command, by parallelism and size of the photo, as an SVG."""
    import vl_convert

    walls = [
        {"what": what, "x": each.parallel, "y": seconds}
        for each in found
        for what, seconds in zip((each.against, each.agent), each.wall(), strict=True)
    ]
    memory = [
        {"what": each.agent, "x": each.parallel, "y": max(ran.megabytes for ran in each.runs)}
        for each in found
    ]
    sized = [{"what": agent, "x": size, "y": ran.beside} for (agent, size), ran in by_size.items()]
    heavy = [{"what": agent, "x": size, "y": ran.megabytes} for (agent, size), ran in by_size.items()]
    panels = [
        _panel(walls, "episodes at once", "wall s an episode"),
        _panel(memory, "episodes at once", "MB of the command"),
        _panel(sized, "megapixels", "wall s an episode"),
        _panel(heavy, "megapixels", "MB of the command"),
    ]
    spec = {"$schema": SCHEMA, "background": "white", "columns": 2, "concat": panels}
    path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def _panel(rows: list[dict[str, Any]], x: str, y: str) -> dict[str, Any]:
    return {
        "width": 300,
        "height": 200,
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "x", "title": x, "type": "quantitative", "scale": {"type": "log"}},
            "y": {"field": "y", "title": y, "type": "quantitative"},
            "color": {"field": "what", "type": "nominal", "title": None},
        },
    }
