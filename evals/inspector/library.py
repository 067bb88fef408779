"""The runs that are looked at: run folders, studies, or a folder of both, read anew at every look."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.inspector.index import Index
from fieldmark.run_reader import VIEW_JOIN
from fieldmark.rundir import RunDir
from fieldmark.study.folder import StudyDir


class Library:
    """Runs by the name that they have in URLs. Any thread may use it."""

    def __init__(self, places: list[Path]) -> None:
        self._places = places
        self._indexes: dict[Path, Index] = {}
        self._lock = threading.Lock()

    def runs(self) -> dict[str, Index]:
        """Name → run, the one that started last first; also one that cannot be opened: its pages say why."""
        found: dict[str, Path] = {}
        for name, path in (pair for place in self._places for pair in _runs(place)):
            if path not in found.values():
                found[_free(name, found)] = path
        named = {name: self._index(path) for name, path in found.items()}
        return dict(sorted(named.items(), key=lambda pair: pair[1].started, reverse=True))

    def run(self, name: str) -> Index | None:
        """The run of this name; None when there is none."""
        return self.runs().get(name)

    def _index(self, path: Path) -> Index:
        with self._lock:
            return self._indexes.setdefault(path, Index(RunDir(path)))


def check(places: list[Path]) -> None:
    """UsageError when a place is no folder, or is neither a run nor holds one."""
    for place in places:
        if not place.is_dir():
            raise UsageError(f"{place} is not a folder: name run folders, studies, or a folder of them")
        if not next(_runs(place), None):
            raise UsageError(f"{place} holds no run yet: name a folder that `fieldmark run` wrote")


def _runs(place: Path) -> Iterator[tuple[str, Path]]:
    """(name, folder) of each run at a place: itself, those of a study, or those of the folders in it."""
    place = place.resolve()
    if _is_one(place):
        yield from _of(place)
        return
    for folder in _folders(place):
        yield from _of(folder)


def _folders(place: Path) -> list[Path]:
    """Those in a place, by name; none where it is gone meanwhile or closed to us."""
    try:
        return sorted(path for path in place.iterdir() if path.is_dir() and path.name[:1] != ".")
    except OSError:
        return []


def _of(folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        if StudyDir(folder).begun:
            for _, run in StudyDir.open(folder).begun_runs():
                yield run.view_name, run.path
        elif RunDir(folder).run_json.exists():
            yield RunDir(folder).view_name, folder
    except (UsageError, OSError):
        return  # one unreadable folder among many hides no other


def _is_one(folder: Path) -> bool:
    return StudyDir(folder).begun or RunDir(folder).run_json.exists()


def _free(name: str, taken: dict[str, Path]) -> str:
    number = 1
    while (free := name if number == 1 else f"{name}{VIEW_JOIN}{number}") in taken:
        number += 1
    return free
