"""What a judge is: it looks at an answer and says whether it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fieldmark.records import VerdictLabel
from fieldmark.task import Gold

_SCORES: dict[VerdictLabel, float] = {
    "correct": 1.0,
    "partially_correct": 0.5,
    "incorrect": 0.0,
    "uncertain": 0.0,
}


@dataclass(frozen=True)
class Judgement:
    """A judge's word before it is tied to an episode. `score` is a fraction 0–1.

    `finer`: the answer is more specific than gold and compatible. `reason` can quote gold: private.
    """

    label: VerdictLabel
    score: float
    reason: str
    finer: bool = False

    @classmethod
    def of(cls, label: VerdictLabel, reason: str, *, finer: bool = False) -> Judgement:
        """A judgement with the usual score of its label: 1, 0.5, 0, and 0 for uncertain."""
        return cls(label, _SCORES[label], reason, finer)


class Judge(Protocol):
    """Anything with a `name` that can judge an answer; `answer` is None when the agent gave none."""

    @property
    def name(self) -> str: ...

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement: ...
