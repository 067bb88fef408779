"""The lines of one kind out of a trace, for what opens many traces: other lines are not parsed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def rows_of(path: Path, kind: str) -> Iterator[dict[str, Any]]:
    """The events of this kind, in order; lines that cannot be read are left out. OSError: no such file."""
    mark = json.dumps(kind).encode()
    with path.open("rb") as file:
        for line in file:
            if mark not in line:  # most lines need no parsing
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and row.get("kind") == kind:
                yield row
