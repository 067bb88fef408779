"""FIKA-Bench from what the user has: the official zip, its unpacked folder, or a manifest of one's own shape.

Nothing of it is in this repository. What had to be told from the data (which key is which field, where the
pictures lie) is in `Benchmark.data`, which run.json records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.brought.manifest import read_manifest
from fieldmark.evals.benchmarks.brought.mapping import map_keys
from fieldmark.evals.benchmarks.brought.opening import open_data
from fieldmark.evals.benchmarks.brought.pictures import pictures_folder
from fieldmark.evals.benchmarks.brought.recording import content_of, describe
from fieldmark.evals.benchmarks.fika.fields import FIELDS
from fieldmark.evals.benchmarks.fika.items import to_row
from fieldmark.evals.benchmarks.fika.labels import TOPS
from fieldmark.evals.benchmarks.rows import NONE, refuse, tasks_of
from fieldmark.task import Task

NAME = "fika"
NEEDED = "the gated zip (fika-bench-testset.zip), its folder or manifest; see docs/fika.md"
"""What `--data` must be."""


def load(data: Path, said: Mapping[str, str]) -> Benchmark:
    """`said`: field → key of the manifest, where the user says it. UsageError: all problems in one line."""
    opened = open_data(data)
    manifest = read_manifest(opened.manifest)
    refuse(opened.manifest.name, manifest.problems)
    mapping = map_keys(manifest.keys, said, opened.manifest.name, FIELDS)
    items = [item for _, item in manifest.rows]
    pictures = pictures_folder(items, mapping["image"], opened.root, opened.manifest)
    rows = tasks_of(((where, to_row(item, mapping, pictures)) for where, item in manifest.rows), opened.root)
    refuse(opened.manifest.name, rows.problems)
    digest = content_of(opened, opened.root, rows.tasks, mapping)
    told = describe(opened, mapping, said, manifest.keys, pictures, digest)
    return Benchmark(
        name=NAME,
        version=digest[:12],
        tasks=rows.tasks,
        description="FIKA-Bench, from data of the user's own.",
        warnings=[*rows.warnings, *_unknown_tops(rows.tasks)],
        data={**told, "language_from": mapping.get("language", "(the writing of the question)")},
    )


def _unknown_tops(tasks: Sequence[Task]) -> list[str]:
    unknown = sorted({task.labels.top for task in tasks} - {*TOPS, NONE})
    if not unknown:
        return []
    return [f"top categories that are none of {', '.join(TOPS)}: {', '.join(unknown)}"]
