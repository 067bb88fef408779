"""What a run was made with."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.table import Table

_LONG = 160
"""Characters of a value that are shown."""


def configuration_table(summary: Summary) -> Table:
    """As `compare` would tell it from another run's, aspect by aspect."""
    rows = [[aspect, key, _short(value)] for aspect, key, value in summary.made_with]
    note = f"From run.json, by aspect, as `fieldmark compare` sees it; {counted(summary.tasks, 'task')}."
    return Table("Configuration", note, ["aspect", "key", "value"], rows, 3)


def _short(value: str) -> str:
    return value if len(value) <= _LONG else f"{value[: _LONG - 1]}…"
