"""What run.json says of data that the user brought: names and hashes, no value of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldmark.evals.benchmarks.brought.opening import Opened, sha256_of
from fieldmark.task import Task


def describe(
    opened: Opened,
    mapping: Mapping[str, str],
    said: Mapping[str, str],
    keys: Sequence[str],
    pictures: str,
    digest: str,
) -> dict[str, Any]:
    """`said`: the fields whose key the user said; `keys`: all of the manifest; `digest`: of `content_of`."""
    used = {key for told in mapping.values() for key in told.split(", ")} | set(mapping.values())
    return {
        "name": opened.name,
        "sha256": opened.sha256 or digest,
        "sha256_file": {True: "agrees", None: "none"}[opened.checked],
        "manifest": opened.manifest.relative_to(opened.root).as_posix(),
        "manifest_sha256": sha256_of(opened.manifest),
        "content_sha256": digest,
        "pictures": pictures,
        "mapping": dict(mapping),
        "mapping_said": sorted(said),
        "unused_keys": [key for key in keys if "." not in key and not _is_used(key, used)],
    }


def content_of(opened: Opened, root: Path, tasks: Sequence[Task], mapping: Mapping[str, str]) -> str:
    """A sha256 of the manifest, the pictures it names (under `root`), and how it was read: a resumed run
    asks for the same.
    """
    digest = hashlib.sha256(f"{opened.sha256} {json.dumps(mapping, sort_keys=True)} ".encode())
    digest.update(sha256_of(opened.manifest).encode())
    for path in sorted({task.image for task in tasks}):
        there = sha256_of(path) if path.is_file() else "missing"
        digest.update(f"{path.relative_to(root).as_posix()} {there} ".encode("utf-8", "replace"))
    return digest.hexdigest()


def _is_used(key: str, used: set[str]) -> bool:
    return any(each == key or each.startswith(f"{key}.") for each in used)
