"""Writes what a benchmark measured into its section of docs/tools.md."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "tools.md"


def write_section(name: str, text: str) -> None:
    """Replace all between `<!-- name:begin -->` and `<!-- name:end -->`; ValueError: no such pair."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    if not found or end not in rest:
        raise ValueError(f"{PAGE} has no section {name}")
    PAGE.write_text(f"{before}{begin}{text.strip()}\n{end}{after}", encoding="utf-8")
