"""A number with its noun."""

from __future__ import annotations

import pytest

from fieldmark.counting import counted


@pytest.mark.parametrize(
    ("n", "told"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (12_345, "12,345 tasks")]
)
def test_a_noun_follows_its_number(n: int, told: str) -> None:
    assert counted(n, "task") == told


def test_a_plural_of_its_own() -> None:
    assert [counted(n, "box", "boxes") for n in (1, 2)] == ["1 box", "2 boxes"]
