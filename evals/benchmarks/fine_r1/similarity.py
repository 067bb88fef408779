"""Relative semantic similarity: how much nearer to gold an answer is than the name of its super-category.

max(0, (sim(answer, gold) − sim(super, gold)) / (1 − sim(super, gold))), with sim the cosine of the text
embeddings of SigLIP (arXiv 2602.07605, equation of its section on metrics; 0 where the denominator is none).
"""

from __future__ import annotations

from typing import Literal, Protocol

from fieldmark.evals.benchmarks.fine_r1.scoring import tagged
from fieldmark.evals.judges.base import Given
from fieldmark.task import Gold

SuperRule = Literal["official", "ours"]
SUPERS: dict[SuperRule, frozenset[str]] = {
    "official": frozenset({"aircraft", "car", "flower"}),
    "ours": frozenset({"aircraft", "bird", "car", "dog", "flower", "pet"}),
}
"""The datasets that are called by their own name; the others are "object". The released code tells them by
words in the picture's path, of which those of birds (`bird_200/`), dogs and pets have none.
"""
OBJECT = "object"
LEAST = 1e-6
"""A smaller denominator is none: gold and super-category are the same."""


class Similarity(Protocol):
    """The cosine of two texts, -1 to 1."""

    def similarity(self, one: str, other: str) -> float: ...


def super_category(kind: str, rule: SuperRule) -> str:
    """What a dataset is called."""
    return kind if kind in SUPERS[rule] else OBJECT


def relative(near: float, base: float) -> float:
    """Of sim(answer, gold) and sim(super, gold); 0 to 1."""
    room = 1 - base
    return min(1.0, max(0.0, (near - base) / room)) if room > LEAST else 0.0


def relative_similarity(given: Given, gold: Gold, tower: Similarity, rule: SuperRule) -> float:
    """Of what stands between the tags, else of the whole output, as the released code has it."""
    said = tagged(given.raw) or given.raw or given.answer or ""
    if not said.strip():
        return 0.0
    base = tower.similarity(super_category(gold.kind, rule), gold.answer)
    return relative(tower.similarity(said, gold.answer), base)
