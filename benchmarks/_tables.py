"""Writes what a benchmark measured into its section of a page of docs/."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

DOCS = Path(__file__).parents[1] / "docs"


def write_section(name: str, text: str, page: str = "tools.md") -> None:
    """Replace all between `<!-- name:begin -->` and `<!-- name:end -->`; ValueError: no such pair."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    path = DOCS / page
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    if not found or end not in rest:
        raise ValueError(f"{path} has no section {name}")
    path.write_text(f"{before}{begin}{text.strip()}\n{end}{after}", encoding="utf-8")


def markdown(table: Table) -> str:
    columns = [list(column.cells) for column in table.columns]
    rows = [
        [str(column.header) for column in table.columns],
        ["---"] * len(columns),
        *zip(*columns, strict=True),
    ]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
