"""docs/threat-model.md: every line of its tables names tests, and each of them is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "threat-model.md"
NAMED = re.compile(r"`([a-z0-9_/]+\.py)::([a-z0-9_]+)`")
ROWS = [
    line
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith("|---") and not line.endswith("| test |")
]


@cache
def defined_in(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds) and node.name.startswith("test_")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:60])
def test_a_line_rests_on_tests_that_are_there(row: str) -> None:
    named = NAMED.findall(row)
    assert named, "a line without a test"
    assert [f"{file}::{name}" for file, name in named if name not in defined_in(file)] == []


def test_the_page_tells_of_every_adversary_and_what_it_does_not_stop() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for heading in ("agent", "web page", "dataset", "run folder", "Another user", "Published numbers"):
        assert re.search(rf"^## .*{heading}", text, re.M)
    assert len(ROWS) > 40
    assert text.count("**not stopped:**") >= 4
