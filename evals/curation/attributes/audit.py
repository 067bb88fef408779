"""audit.csv: a sample of labels for a person, without what the vote said, and what came back.

Drawn by a seed, so many labelled pictures of each type. Once a mark is in it, it is never written again.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.constraint import NONE
from fieldmark.evals.amigo.episode import LabelledImage
from fieldmark.evals.curation.attributes.settings import AuditSample, Kind, Settings
from fieldmark.evals.failures.agreement import Agreement, agreement
from fieldmark.whole_file import write_whole

FILE = "audit.csv"
COLUMNS = ("image", "type", "choices", "person")
BETWEEN = " | "
UNSURE = "unsure"
Row = dict[str, str]


def write(folder: Path, images: Sequence[LabelledImage], settings: Settings) -> bool:
    """Draw the sample and write it, unless a person has begun with the one that is there; whether it did."""
    path = folder / FILE
    if path.exists() and any(row["person"].strip() for row in read(folder)):
        return False
    rows = [
        row for name, kind in settings.types.items() for row in _drawn(name, kind, images, settings.audit)
    ]
    writer = csv.DictWriter(table := io.StringIO(newline=""), COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, table.getvalue().encode())
    return True


def read(folder: Path) -> list[Row]:
    """UsageError: no sample as it was written."""
    path = folder / FILE
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [{name: row.get(name) or "" for name in COLUMNS} for row in reader]
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {path}: {error}; delete it to draw the sample anew") from None
    if missing:
        raise UsageError(f"{path} has no column {missing[0]}: restore it, or delete it to draw it anew")
    return rows


def agreements(
    folder: Path, images: Sequence[LabelledImage], settings: Settings
) -> dict[str, Agreement]:  # fmt: skip
    """Type → person against vote, over the rows with a mark whose picture is labelled now. UsageError: a mark
    that is no value of its type.
    """
    votes = {each.image: each.attributes for each in images}
    pairs: dict[str, list[tuple[str, str]]] = {}
    for number, row in enumerate(read(folder), 2):
        kind, vote = settings.types.get(row["type"]), votes.get(row["image"], {}).get(row["type"])
        if row["person"].strip() and kind and vote:
            mark = _mark(row["person"], kind, f"{folder / FILE}, line {number}")
            pairs.setdefault(row["type"], []).append((mark, _spelled(vote)))
    return {name: agreement("person", "vote", found) for name, found in pairs.items()}


def _drawn(name: str, kind: Kind, images: Sequence[LabelledImage], asked: AuditSample) -> list[Row]:
    labelled = [each for each in images if name in each.attributes]
    drawn = random.Random(f"{asked.seed}/{name}").sample(labelled, min(asked.per_type, len(labelled)))
    choices = BETWEEN.join([*kind.values, NONE, UNSURE])
    return [{"image": each.image, "type": name, "choices": choices, "person": ""} for each in drawn]


def _mark(text: str, kind: Kind, where: str) -> str:
    values = [part.strip().lower() for part in text.split(BETWEEN.strip())]
    known: Mapping[str, str] = {name.lower(): name for name in (*kind.values, NONE, UNSURE)}
    if wrong := [value for value in values if value not in known]:
        raise UsageError(f"{where}: {wrong[0]!r} is none of {', '.join(known.values())}")
    return _spelled([known[value] for value in values])


def _spelled(values: Sequence[str]) -> str:
    return BETWEEN.join(sorted(values))
