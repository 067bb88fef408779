"""Facets of tasks in a file beside the benchmark: a TSV with the columns id, name, value.

Lines before the header that begin with `# ` say where it is from. A facet that the benchmark has already is
taken from the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.task import Labels, Task

HEADER = ["id", "name", "value"]
Facets = dict[str, dict[str, str]]
"""Task id → facet → value."""


def read_facets(path: Path) -> Facets:
    """UsageError, with the number of the line, for what is no such file."""
    found: Facets = {}
    header = False
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip() or (not header and line.startswith("# ")):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not header:
            header = _header(path, number, cells)
            continue
        if len(cells) != 3 or not all(cells):
            raise UsageError(f"{path} line {number}: give id, name and value, divided by tabs")
        task_id, name, value = cells
        if name in found.setdefault(task_id, {}):
            raise UsageError(f"{path} line {number}: {task_id} has {name!r} twice: leave one out")
        found[task_id][name] = value
    if not found:
        raise UsageError(f"{path} holds no facet: give lines of id, name and value under that header")
    return found


def origin(path: Path) -> str:
    """The first remark of a file, "" without one."""
    first = _text(path).partition("\n")[0]
    return first[2:].strip() if first.startswith("# ") else ""


def as_text(facets: Facets, remark: str, order: Sequence[str]) -> str:
    """The file of facets, its tasks in `order`."""
    rows = [
        f"{task_id}\t{name}\t{value}" for task_id in order for name, value in facets.get(task_id, {}).items()
    ]
    return "\n".join([f"# {remark}", "\t".join(HEADER), *rows, ""])


def with_facets(benchmark: Benchmark, path: Path) -> Benchmark:
    """The benchmark with the facets of a file. UsageError: none of its tasks is in it, or a name is taken."""
    facets = read_facets(path)
    if not facets.keys() & {task.id for task in benchmark.tasks}:
        raise UsageError(f"--facets {path}: none of its ids is a task of {benchmark.name}")
    return replace(benchmark, tasks=[_with(task, facets.get(task.id, {}), path) for task in benchmark.tasks])


def _with(task: Task, facets: dict[str, str], path: Path) -> Task:
    if not facets:
        return task
    told = task.labels.model_dump() | {"facets": {**task.labels.facets, **facets}}
    try:
        return task.model_copy(update={"labels": Labels.model_validate(told)})
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise UsageError(f"--facets {path}: {why}: give it another name") from None


def _header(path: Path, number: int, cells: list[str]) -> bool:
    if cells != HEADER:
        raise UsageError(f"{path} line {number}: the header is not id, name, value, divided by tabs")
    return True


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--facets {path} cannot be read ({error}): give a TSV in UTF-8") from None
