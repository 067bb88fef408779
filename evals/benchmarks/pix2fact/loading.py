"""Pix2Fact from what the user has: the authors' CSV beside its pictures, or a parquet file that holds them.

Nothing of it is in this repository. How it was read is in `Benchmark.data`, for run.json. No picture
is decoded: of those with a box the header is read, to tell pixels from other units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldmark.errors import DataFault
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.brought.manifest import Manifest, read_manifest
from fieldmark.evals.benchmarks.brought.mapping import map_keys
from fieldmark.evals.benchmarks.brought.opening import open_data
from fieldmark.evals.benchmarks.brought.pictures import pictures_folder
from fieldmark.evals.benchmarks.brought.recording import content_of, describe
from fieldmark.evals.benchmarks.pix2fact.fields import FIELDS
from fieldmark.evals.benchmarks.pix2fact.items import to_row
from fieldmark.evals.benchmarks.pix2fact.names import FACETS, SCENES
from fieldmark.evals.benchmarks.pix2fact.regions import OddRegion, maybe_thousandths, regions_of
from fieldmark.evals.benchmarks.rows import NONE, refuse, tasks_of
from fieldmark.task import Gold, Task
from fieldmark.trace import Box

NAME = "pix2fact"
NEEDED = "Pix2Fact_1k.csv beside its pictures, a folder or zip of these, or the parquet; see docs/pix2fact.md"
"""What `--data` must be."""
Size = tuple[int, int]


def load(data: Path, said: Mapping[str, str]) -> Benchmark:
    """`said`: field → key of the manifest, where the user says it. UsageError: all problems in one line."""
    opened = open_data(data)
    manifest = read_manifest(opened.manifest)
    name = opened.manifest.name
    refuse(name, manifest.problems)
    mapping = map_keys(manifest.keys, said, name, FIELDS)
    items = [item for _, item in manifest.rows]
    root = manifest.pictures or opened.root
    pictures = "." if manifest.pictures else pictures_folder(items, mapping["image"], root, opened.manifest)
    numbered = enumerate(manifest.rows, 1)
    rows = tasks_of(((where, to_row(item, mapping, pictures, n)) for n, (where, item) in numbered), root)
    refuse(name, rows.problems)
    tasks, odd, doubt = _with_regions(rows.tasks, manifest, mapping)
    refuse(name, odd)
    digest = content_of(opened, root, tasks, mapping)
    return Benchmark(
        name=NAME,
        version=digest[:12],
        tasks=tasks,
        description="Pix2Fact, from data of the user's own.",
        warnings=[*rows.warnings, *_unknown(tasks), *doubt],
        data=describe(opened, mapping, said, manifest.keys, pictures, digest),
    )


def _with_regions(
    tasks: Sequence[Task], manifest: Manifest, mapping: Mapping[str, str]
) -> tuple[list[Task], list[str], list[str]]:
    """The tasks with their boxes; problems; doubts."""
    key = mapping.get("regions")
    if key is None:
        return list(tasks), [], []
    found, problems = [], []
    boxes: list[tuple[Box, Size | None]] = []
    for task, (where, item) in zip(tasks, manifest.rows, strict=True):
        size = _size(task.image) if item.get(key) else None
        try:
            regions = regions_of(item.get(key), size)
        except OddRegion as odd:
            problems.append(f"{where}: {odd} (id {task.id!r})")
            continue
        boxes += [(box, size) for box in regions]
        gold: dict[str, Any] = {**task.gold.model_dump(), "regions": regions}
        found.append(task.model_copy(update={"gold": Gold.model_validate(gold)}))
    doubt = (
        "every bounding box lies within 0 to 1000: if these are thousandths of the sides, regions are wrong"
    )
    return found, problems, [doubt] if maybe_thousandths(boxes) else []


def _size(path: Path) -> Size | None:
    """Of the upright picture, from its header; None where it cannot be read, as the preflight will say."""
    from fieldmark.tools.pictures.images import header

    try:
        head = header(path.read_bytes())
    except (OSError, DataFault):
        return None
    return head.width, head.height


def _unknown(tasks: Sequence[Task]) -> list[str]:
    """Categories that the paper has not, and scenes that are missing, a line each."""
    named = {"scene": {task.labels.top for task in tasks} - {*SCENES, NONE}}
    for facet, known in FACETS.values():
        named[facet] = {task.labels.facets.get(facet, NONE) for task in tasks} - {*known, NONE}
    return [
        f"{name}: not one of Pix2Fact's: {', '.join(sorted(values))}"
        for name, values in named.items()
        if values
    ]
