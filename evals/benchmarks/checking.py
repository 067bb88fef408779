"""What is in a benchmark, before a run: counts, pictures that cannot be used, sizes, doubles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from fieldmark.errors import DataFault
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.judges.normalise import fold_case
from fieldmark.staging import shown_name
from fieldmark.task import Task
from fieldmark.tools.pictures import images


@dataclass(frozen=True)
class Counted:
    """Tasks of one split, top category and language."""

    split: str
    top: str
    language: str
    tasks: int


@dataclass(frozen=True)
class Extent:
    """How much there is of it, as a paper's first table has it. `top` and `mid`: categories with a task;
    `targets`: different reference answers; `evidence_domains`: hosts of the links, without "www.".
    """

    top: int
    mid: int
    targets: int
    aliases: int
    evidence_links: int
    evidence_domains: int
    without_evidence: int


@dataclass(frozen=True)
class Checked:
    """`unusable`: task id → why its picture is refused. `same_picture`: ids that share a file's content;
    `doubles`: those of them that ask the same too. `longer_sides`: pixels, smallest, median and largest.
    """

    name: str
    version: str
    tasks: int
    counts: list[Counted]
    extent: Extent
    unusable: dict[str, str]
    longer_sides: tuple[int, float, int] | None
    same_picture: list[list[str]]
    doubles: list[list[str]]
    warnings: list[str]
    data: dict[str, Any]

    @property
    def sound(self) -> bool:
        return not self.unusable and not self.doubles


def check(benchmark: Benchmark, max_megapixels: float = 120) -> Checked:
    """Opens every picture as a run would."""
    unusable: dict[str, str] = {}
    sides: list[int] = []
    by_picture: dict[str, list[Task]] = defaultdict(list)
    for task in benchmark.tasks:
        try:
            for path in task.gallery or [task.image]:
                staged = images.stage(path, max_pixels=int(max_megapixels * 1e6))
        except DataFault as error:
            unusable[task.id] = str(error).replace(str(task.image), shown_name(task))
            continue
        sides.append(max(staged.original_meta.width, staged.original_meta.height))
        if not task.gallery:
            by_picture[staged.source_sha256].append(task)
    shared = [tasks for tasks in by_picture.values() if len(tasks) > 1]
    return Checked(
        name=benchmark.name,
        version=benchmark.version,
        tasks=len(benchmark.tasks),
        counts=_counts(benchmark.tasks),
        extent=_extent(benchmark.tasks),
        unusable=unusable,
        longer_sides=(min(sides), median(sides), max(sides)) if sides else None,
        same_picture=[[task.id for task in tasks] for tasks in shared],
        doubles=[ids for tasks in shared for ids in _asking_the_same(tasks)],
        warnings=benchmark.warnings,
        data=benchmark.data,
    )


def _counts(tasks: Sequence[Task]) -> list[Counted]:
    found = Counter((task.labels.split, task.labels.top, task.labels.language) for task in tasks)
    return [Counted(*key, count) for key, count in sorted(found.items())]


def _extent(tasks: Sequence[Task]) -> Extent:
    links = [link for task in tasks for link in task.gold.evidence]
    return Extent(
        top=len({task.labels.top for task in tasks}),
        mid=len({task.labels.mid for task in tasks}),
        targets=len({fold_case(task.gold.answer) for task in tasks}),
        aliases=sum(len(task.gold.aliases) for task in tasks),
        evidence_links=len(links),
        evidence_domains=len(set(map(_host, links))),
        without_evidence=sum(not task.gold.evidence for task in tasks),
    )


def _host(link: str) -> str:
    """What cannot be told stands for itself: a reference that is no URL."""
    try:
        return (urlsplit(link).hostname or link).removeprefix("www.")
    except ValueError:
        return link


def _asking_the_same(tasks: Sequence[Task]) -> list[list[str]]:
    by_question: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        by_question[task.question].append(task.id)
    return [ids for ids in by_question.values() if len(ids) > 1]
