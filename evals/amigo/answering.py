"""Who says whether a question is true of an image: labels, or (in `vlm.py`) a model that looks.

The oracle asks it about the target; the verification about every image of the gallery. Where both have the
same answerer, no contradiction can arise without noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fieldmark.evals.amigo.constraint import Answer, Constraint

Labels = Mapping[str, Sequence[str]]
"""Attribute type → its values in one image."""


class Answerer(Protocol):
    """`constraint` is what the lexicon made of `question`, None where it knows none of its words."""

    @property
    def name(self) -> str: ...

    def answer(self, position: int, question: str, constraint: Constraint | None) -> Answer: ...


@dataclass(frozen=True)
class LabelAnswerer:
    """By attribute labels, position 1 first; Unsure where an image has no label of that type."""

    labels: Sequence[Labels]
    name: str = "labels"

    def answer(self, position: int, question: str, constraint: Constraint | None) -> Answer:
        if constraint is None:
            return "Unsure"
        return constraint.holds(self.labels[position - 1].get(constraint.type))


@dataclass(frozen=True)
class LabelsFirst:
    """By labels where they say something, else by `other`."""

    labels: LabelAnswerer
    other: Answerer

    @property
    def name(self) -> str:
        return f"{self.labels.name}, else {self.other.name}"

    def answer(self, position: int, question: str, constraint: Constraint | None) -> Answer:
        said = self.labels.answer(position, question, constraint)
        return said if said != "Unsure" else self.other.answer(position, question, constraint)
