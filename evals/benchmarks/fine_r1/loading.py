"""The Fine-R1 evaluation (arXiv 2602.07605) from the files that the user has; nothing of it is here.

One record serves both worlds: `closed` offers its options, `open` asks for free text. In every released
record gold is the first option, so `shuffled` puts the options into an order of the run's seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
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
    read = [(slot, *decode_lines(path)) for slot, path in files.items()]
    problems = [f"{_name(files[slot], folder)} {line}" for slot, _, lines in read for line in lines]
    refuse(folder.name, problems)
    rows, problems = [], []
    for slot, number, record in _records(read):
        where = f"{_name(files[slot], folder)} line {number}"
        try:
            rows.append((where, to_row(record, slot, number, world, options, seed)))
        except Bad as bad:
            problems.append(f"{where}: {bad}")
    refuse(folder.name, problems)
    made = tasks_of(rows, root)
    refuse(folder.name, made.problems)
    digests = {slot.name: hashlib.sha256(path.read_bytes()).hexdigest() for slot, path in files.items()}
    digest = hashlib.sha256(
        "".join(f"{name} {each}\n" for name, each in digests.items()).encode()
    ).hexdigest()
    found = list(_records(read))
    return Benchmark(
        name=NAME,
        version=digest[:12],
        tasks=made.tasks,
        description="The Fine-R1 evaluation, from data of the user's own.",
        warnings=[*made.warnings, *_missing(files), *_other_counts(found)],
        data={
            "name": data.name,
            "sha256": digest,
            "sha256_file": "none",
            "pictures": root.relative_to(folder).as_posix() if root.is_relative_to(folder) else root.name,
            "mapping": {slot.name: _name(path, folder) for slot, path in files.items()},
            "mapping_said": sorted(said),
            "unused_keys": [],
            "files_sha256": digests,
            "counts": {slot.name: [_count(found, slot), PUBLISHED[slot]] for slot in SLOTS},
            "world": world,
            "options": options,
            "seed": seed if options == "shuffled" else None,
            "gold_is_first": sum(_is_first(record) for _, _, record in found),
            "pass_by_accident": sum(
                passes_by_accident(record["ground_truth"], options_of(record)) for _, _, record in found
            ),
        },
    )


Read = Sequence[tuple[Slot, list[tuple[int, dict[str, Any]]], list[str]]]
Records = Sequence[tuple[Slot, int, dict[str, Any]]]


def _records(read: Read) -> Iterator[tuple[Slot, int, dict[str, Any]]]:
    return ((slot, number, record) for slot, numbered, _ in read for number, record in numbered)


def _name(path: Path, folder: Path) -> str:
    return path.resolve().relative_to(folder).as_posix()


def _count(found: Records, slot: Slot) -> int:
    return sum(each == slot for each, _, _ in found)


def _is_first(record: dict[str, Any]) -> bool:
    return bool(record["options"][0] == record["ground_truth"])


def _missing(files: Mapping[Slot, Path]) -> list[str]:
    names = [slot.name for slot in SLOTS if slot not in files]
    return [f"no file for {', '.join(names)}: averages leave them out, and say so"] if names else []


def _other_counts(found: Records) -> list[str]:
    return [
        f"{slot.name} has {count} records, the released file {PUBLISHED[slot]}"
        for slot in SLOTS
        if (count := _count(found, slot)) not in (0, PUBLISHED[slot])
    ]
