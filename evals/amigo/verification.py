"""The feasible set: the images that fit every answer so far.

Unsure eliminates nothing, of the target or of an image: the paper does not say what it does. Of a question
that was asked again, the later answer counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fieldmark.evals.amigo.answering import Answerer
from fieldmark.evals.amigo.constraint import Answer, Constraint
from fieldmark.evals.amigo.lexicon import folded


class Evidence(NamedTuple):
    """A valid question and its answer."""

    question: str
    constraint: Constraint | None
    answer: Answer

    @property
    def key(self) -> Constraint | str:
        return self.constraint or folded(self.question)


class Split(NamedTuple):
    """The images of a gallery as bits (position 1 is bit 0): of which a question is true, and is false."""

    yes: int
    no: int


class Verification:
    """The images of a gallery of `size`, tested by `answerer`; each question is tested once."""

    def __init__(self, answerer: Answerer, size: int) -> None:
        self.answerer = answerer
        self.all = (1 << size) - 1
        self._size = size
        self._splits: dict[Constraint | str, Split] = {}

    def split(self, question: str, constraint: Constraint | None) -> Split:
        key = constraint or folded(question)
        if key not in self._splits:
            said = [self.answerer.answer(n, question, constraint) for n in range(1, self._size + 1)]
            self._splits[key] = Split(_bits(said, "Yes"), _bits(said, "No"))
        return self._splits[key]

    def feasible(self, evidence: Iterable[Evidence]) -> int:
        """As bits."""
        left = self.all
        for each in {each.key: each for each in evidence}.values():
            split = self.split(each.question, each.constraint)
            left &= {"Yes": ~split.no, "No": ~split.yes, "Unsure": self.all}[each.answer]
        return left


def positions(bits: int) -> list[int]:
    """The positions, from 1, of a set given as bits."""
    return [at + 1 for at in range(bits.bit_length()) if bits >> at & 1]


def _bits(said: list[Answer], wanted: Answer) -> int:
    return sum(1 << at for at, answer in enumerate(said) if answer == wanted)
