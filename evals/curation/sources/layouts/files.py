"""What the layouts share: files that must be there, lines, and MATLAB files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError


def need(folder: Path, pattern: str) -> list[Path]:
    """The files of that pattern, by name. UsageError when there is none."""
    if not (found := sorted(folder.glob(pattern))):
        raise UsageError(f"{folder} has no {pattern}: is --layout the one of this dataset?")
    return found


def lines(path: Path) -> Iterator[str]:
    """The lines with something on them, without their ends."""
    with path.open(encoding="utf-8-sig") as file:
        yield from (line.strip() for line in file if line.strip())


def table(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV with a header, one at a time."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def matlab(path: Path) -> dict[str, Any]:
    """The variables of a .mat file, cells and structs made plain. UsageError when it cannot be read."""
    from scipy.io import loadmat

    try:
        return dict(loadmat(path, simplify_cells=True))
    except (OSError, ValueError, NotImplementedError) as error:
        raise UsageError(f"{path} is no MATLAB file that can be read ({error}): download it again") from None


def listed(value: Any) -> list[Any]:
    """A MATLAB array as a list; a single one comes without its array."""
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str | dict) else [value]
