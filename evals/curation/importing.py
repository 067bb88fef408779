"""What is read becomes candidates; which of them are pictures of their own, of one class, with a licence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from fieldmark.errors import DataFault
from fieldmark.evals.curation.deciding import Said, Told, decide_all
from fieldmark.evals.curation.near import near_pairs
from fieldmark.evals.curation.pictures import keep, prepare, stamp
from fieldmark.evals.curation.project import PICTURES, Project
from fieldmark.evals.curation.records import Candidate
from fieldmark.evals.curation.sources.found import Found

_AT_ONCE = 50
"""Pictures in a transaction: what a kill may let be read again."""
Progress = Callable[[int], None]


@dataclass
class Imported:
    """`known` were read before and are unchanged; `merged`: exact copies of a candidate that was there.

    `problems`: (origin, why) of each picture that cannot be used.
    """

    read: int = 0
    known: int = 0
    added: int = 0
    merged: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)


def import_all(
    project: Project, source: str, found: Iterable[Found], progress: Progress = lambda _: None
) -> Imported:
    """Take them in, a picture in memory at a time. `source` names the dataset."""
    told = Imported()
    rest = iter(found)
    while some := _some(rest):
        with project.writing():
            for each in some:
                _take(project, source, each, told)
        progress(told.read)
    return told


def _some(rest: Iterator[Found]) -> list[Found]:
    return list(islice(rest, _AT_ONCE))


def _take(project: Project, source: str, found: Found, told: Imported) -> None:
    origin, now = f"{source}:{found.origin}", stamp(found)
    row = project.database.execute(
        "SELECT stamp, class, licence, problem FROM origins WHERE origin = ?", [origin]
    ).fetchone()
    told.read += 1
    if row and row[:3] == (now, found.class_name, found.licence):
        told.known += 1
        if row[3]:
            told.problems.append((origin, row[3]))
        return
    candidate, problem = None, None
    try:
        candidate, is_new = _candidate(project, source, found)
        told.added += is_new
        told.merged += not is_new and row is None
    except DataFault as error:
        problem = str(error)
        told.problems.append((origin, problem))
    provenance = json.dumps(found.provenance, ensure_ascii=False, sort_keys=True)
    project.database.execute(
        "INSERT OR REPLACE INTO origins VALUES (?, ?, ?, ?, ?, ?, ?)",
        [origin, now, candidate, found.class_name, found.licence, provenance, problem],
    )
    if candidate:
        _spell(project, candidate, found)


def _candidate(project: Project, source: str, found: Found) -> tuple[str, bool]:
    folder = project.folder / PICTURES
    prepared = prepare(found, folder)
    name = prepared.sha256[:16]
    path = f"{PICTURES}/{keep(prepared, folder)}"
    provenance = {"origin": found.origin, **found.provenance}
    return name, project.add(
        Candidate(
            name, prepared.sha256, path, found.class_name, found.label, source, found.licence,
            provenance, prepared.exif, prepared.look,
        )
    )  # fmt: skip


def _spell(project: Project, candidate: str, found: Found) -> None:
    """A candidate with one origin has the class and licence which that has now."""
    project.database.execute(
        "UPDATE candidates SET class = ?, label = ?, licence = ?"
        " WHERE id = ? AND (SELECT COUNT(*) FROM origins WHERE candidate = id) = 1",
        [found.class_name, found.label, found.licence, candidate],
    )


def decide_import(project: Project) -> Told:
    """Drops what has no licence or two classes, near copies, and classes that are too small."""
    settings = project.settings.importing
    rows = project.database.execute(
        "SELECT id, class, licence, look FROM candidates ORDER BY rowid"
    ).fetchall()
    classes = {name: class_name for name, class_name, _, _ in rows}
    against = _two_classes(project)
    against |= {
        name: "no licence: say one with --licence" for name, _, licence, _ in rows if not licence.strip()
    }
    looks = [(name, look) for name, _, _, look in rows if name not in against]
    for first, later, bits in near_pairs(looks, settings.near_bits):
        if classes[first] == classes[later]:
            if first not in against:
                against.setdefault(later, f"near copy of {first} ({bits} of 256 bits differ)")
        else:
            why = "near copy of {} of the class {} (" + f"{bits} of 256 bits differ)"
            against.setdefault(later, why.format(first, classes[first]))
            against.setdefault(first, why.format(later, classes[later]))
    sizes = Counter(class_name for name, class_name in classes.items() if name not in against)
    for name, class_name in classes.items():
        if sizes[class_name] < settings.min_images:
            against.setdefault(name, f"its class has {sizes[class_name]} of {settings.min_images} pictures")
    return decide_all(
        project,
        "import",
        (
            Said(name, "drop", against[name], {}) if name in against else Said(name, "keep", "usable", {})
            for name in classes
        ),
    )


def _two_classes(project: Project) -> dict[str, str]:
    rows = project.database.execute(
        "SELECT candidate, MIN(class), MAX(class) FROM origins WHERE candidate IS NOT NULL"
        " GROUP BY candidate HAVING COUNT(DISTINCT class) > 1"
    )
    return {name: f"the same picture is of the class {one} and of {other}" for name, one, other in rows}
