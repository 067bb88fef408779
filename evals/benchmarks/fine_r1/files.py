"""Which file holds which dataset × split: told from its name, or said with `--map car_seen=FILE`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fieldmark.errors import UsageError

PUBLISHED: dict[tuple[str, str], int] = {
    ("aircraft", "seen"): 2002, ("aircraft", "unseen"): 1331,
    ("bird", "seen"): 3483, ("bird", "unseen"): 2311,
    ("car", "seen"): 4811, ("car", "unseen"): 3230,
    ("dog", "seen"): 5276, ("dog", "unseen"): 3304,
    ("flower", "seen"): 4028, ("flower", "unseen"): 2121,
    ("pet", "seen"): 2176, ("pet", "unseen"): 1493,
}  # fmt: skip
"""(dataset, split) → the records of its released file."""
DATASETS = tuple(dict.fromkeys(dataset for dataset, _ in PUBLISHED))
SPLITS = ("seen", "unseen")
DEPTH = 3
"""How many folders down files are looked for."""


class Slot(NamedTuple):
    """A file of one dataset and split."""

    dataset: str
    split: str

    @property
    def name(self) -> str:
        """As `--map` calls it."""
        return f"{self.dataset}_{self.split}"


SLOTS = tuple(Slot(*key) for key in PUBLISHED)


def find_files(folder: Path, said: Mapping[str, str]) -> dict[Slot, Path]:
    """The files that are there, in the order of SLOTS. UsageError: none, or two that could be the same."""
    if not folder.is_dir():
        raise UsageError(
            f"--data {folder} is no folder: name the one with aircraft_seen.jsonl and the others"
        )
    found = {**_guessed(folder, said), **_said(folder, said)}
    if not found:
        raise UsageError(
            f"no file of {folder.name} is called after a dataset and a split, as aircraft_seen.jsonl is: "
            "say which is which, as in --map aircraft_seen=FILE"
        )
    return {slot: found[slot] for slot in SLOTS if slot in found}


def _said(folder: Path, said: Mapping[str, str]) -> dict[Slot, Path]:
    known = {slot.name: slot for slot in SLOTS}
    if unknown := sorted(set(said) - set(known)):
        raise UsageError(f"--map {unknown[0]}: a file of fine-r1 is one of {', '.join(known)}")
    found = {}
    for name, file in said.items():
        path = (folder / file).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise UsageError(f"--map {name}={file} is outside the folder of --data: move it there")
        if not path.is_file():
            raise UsageError(f"--map {name}={file}: there is no such file in {folder.name}")
        found[known[name]] = path
    return found


def _guessed(folder: Path, said: Mapping[str, str]) -> dict[Slot, Path]:
    named = {(folder / file).resolve() for file in said.values()}
    found: dict[Slot, list[Path]] = defaultdict(list)
    for depth in range(DEPTH):
        for path in sorted(folder.glob("*/" * depth + "*.jsonl")):
            slot = _slot(path.relative_to(folder))
            if slot and slot.name not in said and path.resolve() not in named:
                found[slot].append(path)
    for slot, paths in found.items():
        if len(paths) > 1:
            names = ", ".join(path.relative_to(folder).as_posix() for path in paths)
            raise UsageError(f"{names} could all be {slot.name}: say which, with --map {slot.name}=FILE")
    return {slot: paths[0] for slot, paths in found.items()}


def _slot(path: Path) -> Slot | None:
    """`car_unseen.jsonl`, `unseen/cars.jsonl`, `stanford-cars-unseen.jsonl` → car, unseen."""
    words = {word.removesuffix("s") for word in re.split(r"[^a-z]+", path.with_suffix("").as_posix().lower())}
    datasets = [name for name in DATASETS if name in words]
    splits = [name for name in SPLITS if name in words]
    return Slot(datasets[0], splits[0]) if len(datasets) == len(splits) == 1 else None
