"""FIKA-Bench from what the user has: the official zip, its unpacked folder, or a manifest of one's own shape.

Nothing of it is in this repository. What had to be told from the data (which key is which field, where the
pictures lie) is in `Benchmark.data`, which run.json records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.fika.items import pictures_folder, to_row
from fieldmark.evals.benchmarks.fika.labels import TOPS
from fieldmark.evals.benchmarks.fika.manifest import read_manifest
from fieldmark.evals.benchmarks.fika.mapping import map_keys
from fieldmark.evals.benchmarks.fika.opening import Opened, open_data, sha256_of
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
    mapping = map_keys(manifest.keys, said, opened.manifest.name)
    items = [item for _, item in manifest.rows]
    pictures = pictures_folder(items, mapping["image"], opened.root, opened.manifest)
    rows = tasks_of(((where, to_row(item, mapping, pictures)) for where, item in manifest.rows), opened.root)
    refuse(opened.manifest.name, rows.problems)
    digest = _digest(opened, rows.tasks, mapping)
    return Benchmark(
        name=NAME,
        version=digest[:12],
        tasks=rows.tasks,
        description="FIKA-Bench, from data of the user's own.",
        warnings=[*rows.warnings, *_unknown_tops(rows.tasks)],
        data=_describe(opened, mapping, said, manifest.keys, pictures, digest),
    )


def _describe(
    opened: Opened,
    mapping: dict[str, str],
    said: Mapping[str, str],
    keys: Sequence[str],
    pictures: str,
    digest: str,
) -> dict[str, Any]:
    """For run.json: no value of the data, only names and hashes."""
    used = set(mapping.values())
    return {
        "name": opened.name,
        "sha256": opened.sha256 or digest,
        "sha256_file": {True: "agrees", None: "none"}[opened.checked],
        "manifest": opened.manifest.relative_to(opened.root).as_posix(),
        "manifest_sha256": sha256_of(opened.manifest),
        "content_sha256": digest,
        "pictures": pictures,
        "mapping": mapping,
        "mapping_said": sorted(said),
        "language_from": mapping.get("language", "(the writing of the question)"),
        "unused_keys": [key for key in keys if "." not in key and not _is_used(key, used)],
    }


def _is_used(key: str, used: set[str]) -> bool:
    return any(each == key or each.startswith(f"{key}.") for each in used)


def _digest(opened: Opened, tasks: Sequence[Task], mapping: Mapping[str, str]) -> str:
    """Of the manifest, the pictures it names, and how it was read: a resumed run asks for the same."""
    digest = hashlib.sha256(f"{opened.sha256} {json.dumps(mapping, sort_keys=True)} ".encode())
    digest.update(sha256_of(opened.manifest).encode())
    for path in sorted({task.image for task in tasks}):
        there = sha256_of(path) if path.is_file() else "missing"
        digest.update(f"{path.relative_to(opened.root).as_posix()} {there} ".encode("utf-8", "replace"))
    return digest.hexdigest()


def _unknown_tops(tasks: Sequence[Task]) -> list[str]:
    unknown = sorted({task.labels.top for task in tasks} - {*TOPS, NONE})
    if not unknown:
        return []
    return [f"top categories that are none of {', '.join(TOPS)}: {', '.join(unknown)}"]
