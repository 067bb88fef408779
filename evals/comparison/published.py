"""A paper's published figures beside ours: of its single tasks nothing is known, so nothing is paired."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from fieldmark.counting import counted
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.accuracy import ALL, AccuracyRow, accuracy
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.shares import Interval, Share, wilson
from fieldmark.rundir import RunDir

Part = Literal["overall", "public", "real-life"]
_FIGURES = files("fieldmark.evals.comparison") / "published_figures"
PARTS: tuple[Part, ...] = ("overall", "public", "real-life")


class _Figure(BaseModel):
    """`count` correct tasks; `printed` per cent as the paper has it, None where that is derived."""

    model_config = ConfigDict(extra="forbid")

    count: int
    printed: float | None = None


class Published(BaseModel):
    """A file of `published_figures/`: a benchmark, its tasks by part, and systems: a name, figures by part.

    `judge`: the model that judged, where the paper says so.
    """

    model_config = ConfigDict(extra="forbid")

    benchmark: str
    source: str
    judge: str | None = None
    tasks: dict[Part, int]
    systems: list[dict[Literal["name"] | Part, str | _Figure]]


class BesideCell(BaseModel):
    """Strict accuracy with its 95 % interval, Wilson's of the count. `derived`: not printed in the paper."""

    share: Share
    interval: Interval | None
    derived: bool = False


class BesideRow(BaseModel):
    """`ours`: a run of ours, else a system of the paper; part → its figure, where there is one."""

    name: str
    ours: bool
    parts: dict[Part, BesideCell]


class Beside(BaseModel):
    """Ours first. `warnings` say in what a run of ours is not as the paper's were."""

    benchmark: str
    source: str
    rows: list[BesideRow]
    warnings: list[str]


def benchmarks() -> list[str]:
    """The benchmarks of which there are published figures."""
    return sorted(
        file.name.removesuffix(".toml") for file in _FIGURES.iterdir() if file.name.endswith(".toml")
    )


def published(benchmark: str = "fika") -> Published:
    """The figures of a benchmark's paper, as they stand in its file."""
    text = (_FIGURES / f"{benchmark}.toml").read_text(encoding="utf-8")
    return Published.model_validate(tomllib.loads(text))


def beside(runs: Sequence[RunDir]) -> Beside:
    """The paper's figures beside those of runs, one at least. UsageError: a run over a benchmark without
    figures, or over another than the first.
    """
    first = _benchmark(runs[0])
    for run in runs:
        if (name := _benchmark(run)) not in benchmarks():
            raise UsageError(
                f"--published has figures of {', '.join(benchmarks())}, and, for runs over it alone, of "
                f"fine-r1; {run.path} is over {name}: leave it out"
            )
        if name != first:
            raise UsageError(f"--published is for one benchmark: {run.path} is over {name}, not {first}")
    told = published(first)
    rows = [*(_ours(run) for run in runs), *(_theirs(system, told) for system in told.systems)]
    warnings = [f"{_name(run)}: {line}" for run in runs for line in _warnings(run, told)]
    return Beside(benchmark=told.benchmark, source=told.source, rows=rows, warnings=warnings)


def _theirs(system: dict[Any, Any], told: Published) -> BesideRow:
    parts = {part: _cell(system[part], told.tasks[part]) for part in PARTS if part in system}
    return BesideRow(name=system["name"], ours=False, parts=parts)


def _cell(figure: _Figure, n: int) -> BesideCell:
    share = Share.of(figure.count, n)
    return BesideCell(share=share, interval=wilson(share), derived=figure.printed is None)


def _ours(run: RunDir) -> BesideRow:
    found = accuracy(cells(run)).rows
    totals = {row.split: row for row in found if row.top == ALL}
    named: dict[Part, AccuracyRow | None] = {
        "overall": totals.get(ALL), "public": totals.get("public"), "real-life": totals.get("real-life"),
    }  # fmt: skip
    parts = {
        part: BesideCell(share=row.strict, interval=row.interval)
        for part, row in named.items()
        if row and row.strict.n
    }
    return BesideRow(name=_name(run), ours=True, parts=parts)


def _warnings(run: RunDir, told: Published) -> list[str]:
    config, grid = run.config(), cells(run)
    protocol, judge = config.get("protocol"), str(config.get("judge"))
    tasks, image = len({cell.id for cell in grid}), config.get("picture", "full")
    done = accuracy(grid).headline.strict.n
    found = [f"{tasks} of {told.tasks['overall']} tasks"] if tasks != told.tasks["overall"] else []
    found += [f"{done} of {counted(tasks, 'task')} done and judged"] if done < tasks else []
    if not isinstance(protocol, dict) or protocol.get("name") != told.benchmark:
        found.append(f"not --protocol {told.benchmark}")
    if "/" not in judge and not judge.startswith("llm"):
        found.append(f"judged by {judge}, the paper by {told.judge or 'a model'}")
    elif told.judge and told.judge not in judge:
        found.append(f"judged by {judge}, the paper by {told.judge}")
    elif told.judge is None:
        found.append("the paper does not say which model judged")
    return [*found, *([f"image {image}"] if image != "full" else [])]


def _benchmark(run: RunDir) -> str:
    benchmark = run.config().get("benchmark")
    return str(benchmark.get("name")) if isinstance(benchmark, dict) else "?"


def _name(run: RunDir) -> str:
    return str(run.config().get("name") or run.path.name)
