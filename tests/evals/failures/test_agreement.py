"""Cohen's κ against values worked out by hand and a textbook's."""

from __future__ import annotations

from math import sqrt

import pytest

from fieldmark.evals.failures.agreement import Agreement, agreement


def of(table: dict[tuple[str, str], int]) -> Agreement:
    return agreement("ann", "bob", [pair for pair, count in table.items() for _ in range(count)])


def test_a_table_worked_out_by_hand() -> None:
    """35 of 50 agree; by chance 0.5 × 0.6 + 0.5 × 0.4 = 0.5 would: κ = (0.7 - 0.5) / (1 - 0.5)."""
    found = of({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    assert (found.n, found.raw.fraction) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert (found.classes, found.matrix) == (["n", "y"], [[15, 10], [5, 20]])


def test_the_interval_is_that_of_fleiss_cohen_and_everitt() -> None:
    """The large-sample variance, written out: their formula 13 for an unweighted κ."""
    table = {("a", "a"): 44, ("a", "b"): 5, ("a", "c"): 1, ("b", "a"): 7, ("b", "b"): 20}
    table |= {("b", "c"): 3, ("c", "a"): 9, ("c", "b"): 5, ("c", "c"): 6}
    n, classes = sum(table.values()), "abc"
    share = {pair: count / n for pair, count in table.items()}
    row = {i: sum(share[i, j] for j in classes) for i in classes}
    column = {j: sum(share[i, j] for i in classes) for j in classes}
    agreed, chance = sum(share[i, i] for i in classes), sum(row[i] * column[i] for i in classes)
    kappa = (agreed - chance) / (1 - chance)
    inside = sum(share[i, i] * (1 - (row[i] + column[i]) * (1 - kappa)) ** 2 for i in classes)
    outside = (1 - kappa) ** 2 * sum(
        share[i, j] * (column[i] + row[j]) ** 2 for i in classes for j in classes if i != j
    )
    error = sqrt((inside + outside - (kappa - chance * (1 - kappa)) ** 2) / n) / (1 - chance)
    found = of(table)
    assert found.kappa == pytest.approx(kappa)
    assert found.interval == pytest.approx((kappa - 1.959964 * error, kappa + 1.959964 * error))


def test_a_textbooks_example() -> None:
    """Fleiss, Levin & Paik (2003), table 18.1: two raters, 100 subjects, three diagnoses; κ = 0.68."""
    fleiss = {("p", "p"): 75, ("p", "n"): 1, ("p", "o"): 4, ("n", "p"): 5, ("n", "n"): 4, ("n", "o"): 1}
    fleiss |= {("o", "o"): 10}
    found = of(fleiss)
    assert found.kappa == pytest.approx(0.676, abs=0.001)
    assert found.raw.fraction == 0.89


@pytest.mark.parametrize(
    ("table", "kappa", "why"),
    [
        ({}, None, "no answer was labelled by both"),
        ({("a", "a"): 9}, None, "one and the same class"),
        ({("a", "a"): 5, ("b", "b"): 5}, 1.0, "no variance"),
        ({("a", "b"): 5, ("b", "a"): 5}, -1.0, "no variance"),
        ({("a", "a"): 5, ("a", "b"): 5}, 0.0, "no variance"),
    ],
)
def test_where_there_is_no_interval_it_is_said(
    table: dict[tuple[str, str], int], kappa: float | None, why: str
) -> None:
    found = of(table)
    assert (found.kappa, found.interval) == (kappa, None)
    assert why in found.why
