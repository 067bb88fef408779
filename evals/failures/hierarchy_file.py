"""A hierarchy of the user's own: tab-separated `name`, `parent`, and, where wanted, `rank` and `aliases`."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.failures.hierarchy import Kind, Words, plain

COLUMNS = ("name", "parent")
OPTIONAL = ("rank", "aliases")


class HierarchyFile:
    """Siblings share their parent, and their rank where both have one; ancestors stand any number of steps
    above. A parent needs no line of its own. `name` holds eight digits of the file's sha256.
    """

    def __init__(self, path: Path) -> None:
        data = _bytes(path)
        self.name = f"{path.name} ({hashlib.sha256(data).hexdigest()[:8]})"
        self._nodes: dict[Words, Words] = {}
        self._parents: dict[Words, Words] = {}
        self._ranks: dict[Words, str] = {}
        self._lines: dict[Words, int] = {}
        for line, row in _rows(path, data):
            self._add(path, line, row)
        self._check(path)

    def _add(self, path: Path, line: int, row: dict[str, str]) -> None:
        node = plain(row["name"])
        if not node:
            raise UsageError(f"{path}:{line}: no name: write one, or remove the line")
        self._parents[node] = plain(row["parent"])
        self._ranks[node] = row["rank"].casefold()
        for text in (row["name"], *row["aliases"].split("|")):
            name = plain(text)
            if self._lines.get(name, line) != line:
                first = self._lines[name]
                raise UsageError(
                    f"{path}:{line}: {text.strip()!r} is named in line {first} too: keep one of them"
                )
            if name:
                self._lines[name] = line
                self._nodes[name] = node

    def _check(self, path: Path) -> None:
        """Parents may be named by an alias; none may stand above itself."""
        for node, parent in self._parents.items():
            self._parents[node] = self._nodes.get(parent, parent)
        for node in self._parents:
            if node in self._above(node):
                raise UsageError(
                    f"{path}:{self._lines[node]}: {' '.join(node)!r} stands above itself: mend its parents"
                )

    def _above(self, node: Words) -> list[Words]:
        """The ancestors of a node, nearest first; in a cycle each once."""
        found: list[Words] = []
        while (node := self._parents.get(node, ())) and node not in found:
            found.append(node)
        return found

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        other = self._nodes.get(answer, answer)
        nodes = {self._nodes[name] for name in names if name in self._nodes}
        if other in nodes:
            return None
        if any(other in self._above(node) for node in nodes):
            return "ancestor"
        if any(self._beside(node, other) for node in nodes):
            return "sibling"
        if not nodes:
            return None
        return "unrelated" if other in self._parents else "stranger"

    def _beside(self, node: Words, other: Words) -> bool:
        ranks = {self._ranks[node], self._ranks.get(other, "")} - {""}
        parent = self._parents[node]
        return bool(parent) and parent == self._parents.get(other) and len(ranks) < 2


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"--hierarchy {path} cannot be read ({error.strerror}): name a TSV file") from None


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number from 1, the cells by column). Empty lines are left out."""
    try:
        lines = csv.reader(
            io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE
        )
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8: save it as UTF-8") from None
    header = [cell.strip().lower() for cell in next(lines, [])]
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise UsageError(
            f"{path}:1: no column {' and '.join(missing)}: the first line names the columns, divided by tabs:"
            f" {', '.join(COLUMNS)} and, where wanted, {', '.join(OPTIONAL)}"
        )
    for number, cells in enumerate(lines, 2):
        if any(cell.strip() for cell in cells):
            if len(cells) > len(header):
                raise UsageError(f"{path}:{number}: more cells than columns: divide {len(header)} by tabs")
            row = dict(zip(header, cells, strict=False))
            yield number, {column: row.get(column, "").strip() for column in (*COLUMNS, *OPTIONAL)}
