"""The Fine-R1 evaluation (arXiv 2602.07605) from the files that the user has; nothing of it is here.

One record serves both worlds: `closed` offers its options, `open` asks for free text. In every released
record gold is the first option, so `shuffled` puts the options into an order of the run's seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.fine_r1.files import PUBLISHED, SLOTS, Slot, find_files
from fieldmark.evals.benchmarks.fine_r1.items import (
    OptionOrder,
    World,
    options_of,
    passes_by_accident,
    to_row,
)
from fieldmark.evals.benchmarks.rows import Bad, decode_lines, refuse, tasks_of

NAME = "fine-r1"
NEEDED = "the folder with aircraft_seen.jsonl and the other files; see docs/fine-r1.md"
"""What `--data` must be."""
SETTINGS = ("image_root", "world", "options")
"""What a run may say of it beside its data."""


def load(
    data: Path,
    said: Mapping[str, str],
    *,
    image_root: Path | None = None,
    world: World = "closed",
    options: OptionOrder = "official",
    seed: int = 0,
) -> Benchmark:
    """`said`: car_seen and the like → its file in the folder. UsageError: all problems in one line."""
    folder = data.expanduser().resolve()
    files = find_files(folder, said)
    root = (image_root or folder).expanduser().resolve()
    if not root.is_dir():
        raise UsageError(f"--image-root {root} is no folder: name the one that image_path begins in")
    found = _read(files, folder)
    numbered, problems = [], []
    for slot, number, record in found:
        where = f"{_name(files[slot], folder)} line {number}"
        try:
            numbered.append((where, to_row(record, slot, number, world, options, seed)))
        except Bad as bad:
            problems.append(f"{where}: {bad}")
    refuse(folder.name, problems)
    rows = tasks_of(numbered, root)
    refuse(folder.name, rows.problems)
    asked = {"world": world, "options": options, "seed": seed if options == "shuffled" else None}
    described = {**_describe(folder, root, files, found), "mapping_said": sorted(said), **asked}
    return Benchmark(
        name=NAME,
        version=described["sha256"][:12],
        tasks=rows.tasks,
        description="The Fine-R1 evaluation, from data of the user's own.",
        warnings=[*rows.warnings, *_missing(files), *_other_counts(found)],
        data=described,
    )


Records = Sequence[tuple[Slot, int, dict[str, Any]]]
"""Slot, line and record."""


def _read(files: Mapping[Slot, Path], folder: Path) -> Records:
    """UsageError: all lines that are no records, in one line."""
    read = [(slot, *decode_lines(path)) for slot, path in files.items()]
    problems = [f"{_name(files[slot], folder)} {line}" for slot, _, lines in read for line in lines]
    refuse(folder.name, problems)
    return [(slot, number, record) for slot, numbered, _ in read for number, record in numbered]


def _describe(folder: Path, root: Path, files: Mapping[Slot, Path], found: Records) -> dict[str, Any]:
    """For run.json: no value of the data, only names, hashes and counts."""
    digests = {slot.name: hashlib.sha256(path.read_bytes()).hexdigest() for slot, path in files.items()}
    lines = "".join(f"{name} {digest}\n" for name, digest in digests.items())
    golds = [(record["ground_truth"], options_of(record)) for _, _, record in found]
    return {
        "name": folder.name,
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "sha256_file": "none",
        "pictures": root.relative_to(folder).as_posix() if root.is_relative_to(folder) else root.name,
        "mapping": {slot.name: _name(path, folder) for slot, path in files.items()},
        "unused_keys": [],
        "files_sha256": digests,
        "counts": {slot.name: [_count(found, slot), PUBLISHED[slot]] for slot in SLOTS},
        "gold_is_first": sum(gold == options[0] for gold, options in golds),
        "pass_by_accident": sum(passes_by_accident(gold, options) for gold, options in golds),
    }


def _name(path: Path, folder: Path) -> str:
    return path.resolve().relative_to(folder).as_posix()


def _count(found: Records, slot: Slot) -> int:
    return sum(each == slot for each, _, _ in found)


def _missing(files: Mapping[Slot, Path]) -> list[str]:
    names = [slot.name for slot in SLOTS if slot not in files]
    return [f"no file for {', '.join(names)}: averages leave them out, and say so"] if names else []


def _other_counts(found: Records) -> list[str]:
    return [
        f"{slot.name} has {count} records, the released file {PUBLISHED[slot]}"
        for slot in SLOTS
        if (count := _count(found, slot)) not in (0, PUBLISHED[slot])
    ]
