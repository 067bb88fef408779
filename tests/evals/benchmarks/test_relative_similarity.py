"""Relative semantic similarity as a formula: it needs no model, so neither does its test."""

from __future__ import annotations

import pytest

from fieldmark.evals.benchmarks.fine_r1.similarity import relative, super_category


@pytest.mark.parametrize(
    ("near", "base", "score"),
    [
        (1.0, 0.6, 1.0),  # the reference itself
        (0.8, 0.6, 0.5),  # half of the way from the super-category
        (0.6, 0.6, 0.0),  # as far as the super-category
        (0.3, 0.6, 0.0),  # farther: not below nothing
        (1.0, 1.0, 0.0),  # the reference is the super-category: no denominator
        (0.9, 1.0 - 1e-9, 0.0),  # none but for rounding
    ],
)
def test_the_score_lies_between_super_category_and_reference(near: float, base: float, score: float) -> None:
    assert relative(near, base) == pytest.approx(score)


def test_the_released_rule_calls_birds_dogs_and_pets_objects() -> None:
    for kind in ("bird", "dog", "pet"):
        assert (super_category(kind, "official"), super_category(kind, "ours")) == ("object", kind)
    for kind in ("aircraft", "car", "flower"):
        assert super_category(kind, "official") == super_category(kind, "ours") == kind
