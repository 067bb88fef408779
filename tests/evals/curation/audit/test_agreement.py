"""Krippendorff's α against published values."""

from __future__ import annotations

import pytest

from fieldmark.evals.curation.audit.agreement import alpha

RATERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
"""The four observers and twelve units of Krippendorff (2011), section C."""


def test_alpha_of_the_published_example_with_missing_values() -> None:
    columns = zip(*(row.split() for row in RATERS), strict=True)
    assert alpha([[value for value in unit if value != "."] for unit in columns]) == pytest.approx(
        0.743, abs=5e-4
    )


def test_alpha_of_the_published_binary_example() -> None:
    """Section A of the same: two observers, ten units, α = 0.095."""
    one, two = "0100000000", "1110011000"
    assert alpha([[a, b] for a, b in zip(one, two, strict=True)]) == pytest.approx(0.095, abs=5e-4)


def test_where_nothing_can_be_said_there_is_none() -> None:
    assert alpha([]) is None
    assert alpha([["keep"], ["drop"]]) is None
    assert alpha([["keep", "keep"], ["keep", "keep"]]) is None
