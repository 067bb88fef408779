"""What a judge is: it looks at an answer and says whether it is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from fieldmark.records import JudgeUse, VerdictLabel
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
    `repaired`: the judge's reply was not quite JSON; `truncated`: its end, after the score, was missing.
    `votes`: how many of several votes each label has. `use`: what a model was asked for it.
    """

    label: VerdictLabel
    score: float
    reason: str
    finer: bool = False
    repaired: bool = False
    truncated: bool = False
    votes: Mapping[VerdictLabel, int] | None = None
    use: JudgeUse | None = None

    @classmethod
    def of(cls, label: VerdictLabel, reason: str, *, finer: bool = False) -> Judgement:
        """A judgement with the usual score of its label: 1, 0.5, 0, and 0 for uncertain."""
        return cls(label, _SCORES[label], reason, finer)


class Judge(Protocol):
    """Anything with a `name` that can judge an answer; `answer` is None when the agent gave none."""

    @property
    def name(self) -> str: ...

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement: ...


@dataclass(frozen=True)
class Given:
    """All that an agent gave: its answer (None without one), the text it was read from, and why."""

    answer: str | None
    raw: str = ""
    rationale: str = ""


@runtime_checkable
class FullJudge(Judge, Protocol):
    """A judge that reads more of what an agent gave than its answer."""

    def judge_given(self, question: str, gold: Gold, given: Given) -> Judgement: ...


class Unjudged(Exception):
    """There is no word on this answer. `reply`, the judge's last one, can quote gold: private. `use`: what
    a model was asked all the same.
    """

    def __init__(self, why: str, reply: str = "") -> None:
        super().__init__(why)
        self.reply = reply
        self.use: JudgeUse | None = None


class ServerDown(Unjudged):
    """The judge's server did not answer; several in a row, and it will not answer the next either."""


class JudgingOver(Unjudged):
    """Nor can there be one on any further answer: no quota, a refused key."""
