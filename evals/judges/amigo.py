"""The `amigo` judge: the guess is the hidden target, or it is not. No guess is a wrong one."""

from __future__ import annotations

import re

from fieldmark.evals.judges.base import Judge, Judgement
from fieldmark.task import Gold

_NUMBER = re.compile(r"\d{1,6}")


class AmigoJudge:
    """Compares places in the gallery; an answer that names none, or several, is incorrect."""

    name = "amigo"

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        named = {int(number) for number in _NUMBER.findall(answer or "")}
        target = {int(number) for number in _NUMBER.findall(gold.answer)}
        if not named:
            return Judgement.of("incorrect", "no guess")
        right = named == target and len(target) == 1
        return Judgement.of("correct" if right else "incorrect", f"the target is {gold.answer}")


JUDGE: Judge = AmigoJudge()
