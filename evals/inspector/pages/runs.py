"""The list of runs."""

from __future__ import annotations

from fieldmark.errors import UsageError
from fieldmark.evals.inspector.index import Snapshot
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.inspector.pages.rendering import render


def runs_page(library: Library) -> bytes:
    """Every run with its main figure. One that cannot be read is named: its own page says why."""
    found: list[tuple[str, Snapshot]] = []
    broken: list[str] = []
    for name, index in library.runs().items():
        try:
            found.append((name, index.snapshot()))
        except (UsageError, OSError):
            broken.append(name)
    return render("runs.html.j2", runs=found, broken=broken, live=any(run.running for _, run in found))
