"""Pictures taken in from a folder, a CSV file or a curation: made safe, named by their pixels, each once."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fieldmark.errors import DataFault, UsageError
from fieldmark.evals.curation import schema
from fieldmark.evals.curation.attributes.state import Pictured, State
from fieldmark.evals.curation.pictures import keep, prepare
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.sources.found import Found, pictures_in

PICTURES = "images"
COLUMN = "image"


@dataclass
class Taken:
    """`problems`: where a picture is, and why it cannot be used."""

    read: int = 0
    new: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)


def take_in(folder: Path, state: State, place: Path) -> Taken:
    """UsageError: no picture there."""
    (folder / PICTURES).mkdir(exist_ok=True)
    taken = Taken()
    for path, origin in _found(place):
        taken.read += 1
        try:
            prepared = prepare(Found(origin, path, "", ""), folder)
        except DataFault as error:
            taken.problems.append((origin, str(error)))
            continue
        name = keep(prepared, folder / PICTURES)
        taken.new += state.add(Pictured(prepared.sha256[:16], f"{PICTURES}/{name}", origin))
    if not taken.read:
        raise UsageError(f"{place} holds no picture: name a folder, a CSV file, or a curation")
    return taken


def _found(place: Path) -> Iterator[tuple[Path, str]]:
    """File and origin. Of a curation: what its import keeps."""
    if (place / schema.FILE).exists():
        with Project.open(place) as project:
            for candidate in project.candidates(after="import"):
                yield project.picture(candidate), candidate.id
    elif place.is_dir():
        for folder in [place, *sorted(path for path in place.rglob("*") if path.is_dir())]:
            for path in pictures_in(folder):
                yield path, path.relative_to(place).as_posix()
    elif place.suffix.lower() == ".csv":
        yield from _rows(place)
    else:
        raise UsageError(f"{place} is no folder, CSV file or curation: name one of these")


def _rows(path: Path) -> Iterator[tuple[Path, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                if not row.get(COLUMN):
                    raise UsageError(f"{path}, line {number}: no {COLUMN}: give every row a picture's path")
                yield path.parent / str(row[COLUMN]), str(row[COLUMN])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
