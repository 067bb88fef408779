"""The `fine-r1` judge: by the variants of the Fine-R1 evaluation, one of which is the verdict.

`semantic` gives a score between 0 and 1: correct at 1, partially correct above 0. The others say correct or
incorrect. An episode without an answer is incorrect under each.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fieldmark.evals.benchmarks.fine_r1.scoring import SCORES, Variant, default_variant
from fieldmark.evals.benchmarks.fine_r1.siglip import MODEL, TextTower
from fieldmark.evals.benchmarks.fine_r1.similarity import SuperRule, relative_similarity
from fieldmark.evals.judges.base import Given, Judge, Judgement
from fieldmark.model_config import JudgeConfig
from fieldmark.task import Gold

NAME = "fine-r1"
SEMANTIC = "fine-r1/semantic"
"""What the name of a judge begins with that gives relative semantic similarity."""
RIGHT = 1 - 1e-6
"""From here on an answer is as near as gold itself."""


@dataclass(frozen=True)
class VariantJudge:
    """One variant; None: strict where options were offered, text inclusion where none were."""

    variant: Variant | None = None

    @property
    def name(self) -> str:
        return f"{NAME}/{self.variant}" if self.variant else NAME

    @property
    def described(self) -> dict[str, Any]:
        """For run.json: what the verdict is, by world."""
        return {
            "closed": self.variant or default_variant(Gold(answer="", options=[""])),
            "open": self.variant or default_variant(Gold(answer="")),
        }

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        return self.judge_given(question, gold, Given(answer))

    def judge_given(self, question: str, gold: Gold, given: Given) -> Judgement:
        if given.answer is None:
            return Judgement.of("incorrect", "no answer")
        variant = self.variant or default_variant(gold)
        right = SCORES[variant](given, gold)
        return Judgement.of(
            "correct" if right else "incorrect", f"{variant}: the reference is {gold.answer!r}"
        )


@dataclass(frozen=True)
class SemanticJudge:
    """Relative semantic similarity. `check_reachable`: UsageError when the tower cannot be loaded."""

    tower: TextTower
    rule: SuperRule

    @cached_property
    def name(self) -> str:
        """With a hash of all that it scores by: another hash is another judge."""
        known = json.dumps(self.described, sort_keys=True)
        return f"{SEMANTIC}/{hashlib.sha256(known.encode()).hexdigest()[:8]}"

    @cached_property
    def described(self) -> dict[str, Any]:
        """For run.json: the tower and the rule for super-categories."""
        return {**self.tower.described(), "super_category": self.rule}

    def check_reachable(self) -> None:
        self.tower.check()

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        return self.judge_given(question, gold, Given(answer))

    def judge_given(self, question: str, gold: Gold, given: Given) -> Judgement:
        if given.answer is None:
            return Judgement.of("incorrect", "no answer")
        score = relative_similarity(given, gold, self.tower, self.rule)
        reason = f"relative similarity {score:.4f} to {gold.answer!r}"
        if score >= RIGHT:
            return Judgement("correct", 1.0, reason)
        return Judgement("partially_correct" if score > 0 else "incorrect", score, reason)


def make(settings: JudgeConfig) -> Judge:
    """Loads no model."""
    if settings.variant != "semantic":
        return VariantJudge(settings.variant)
    return SemanticJudge(TextTower(settings.siglip or MODEL), settings.super_category or "official")


JUDGE = make
