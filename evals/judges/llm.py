"""The `llm` judge: a model that reads the question, the reference and what the agent gave, and no picture.

A question for a literal text (`match="exact_text"`) is decided by rule, as `exact` does, and so is an answer
or a reference without any text. All else is asked; a reply without a verdict is asked again, so often in all
as ASKS, and then the answer is *unjudged*, never `incorrect`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.asking.identity import name_of, sha256_of
from fieldmark.evals.asking.reply import NoUse, ask_until_used
from fieldmark.evals.asking.request import Ask, Message, asked_again, read_prompt
from fieldmark.evals.judges import panel
from fieldmark.evals.judges.base import Given, Judgement, Unjudged
from fieldmark.evals.judges.counting import Counting
from fieldmark.evals.judges.exact import ExactJudge
from fieldmark.evals.judges.llm_reply import read_reply
from fieldmark.evals.judges.llm_request import KEYS, messages, references
from fieldmark.evals.judges.normalise import fold
from fieldmark.model_config import JudgeConfig
from fieldmark.records import VerdictLabel
from fieldmark.task import Gold

ASKS = 3
PROMPT = "llm.md"
_BEST_FIRST: tuple[VerdictLabel, ...] = ("correct", "partially_correct", "uncertain", "incorrect")


@dataclass(frozen=True)
class LlmJudge:
    """See the module's docstring. `prompt` is its system message; vote number n is asked with seed + n.

    `check_reachable` raises a UsageError when its server is not there.
    """

    settings: JudgeConfig
    prompt: str
    ask: Ask
    check_reachable: Callable[[], None] = lambda: None

    @cached_property
    def name(self) -> str:
        """`llm/MODEL/` and a hash of all that it judges by: another hash is another judge."""
        return name_of("llm", self.settings.model, self.described)

    @property
    def described(self) -> dict[str, Any]:
        """For run.json: all that it judges by."""
        return {
            "model": self.settings.model,
            "prompt_sha256": sha256_of(self.prompt),
            "temperature": self.settings.temperature,
            "seed": self.settings.seed,
            "aliases": self.settings.aliases,
            "votes": self.settings.votes,
            "asks": ASKS,
        }

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        return self.judge_given(question, gold, Given(answer))

    def judge_given(self, question: str, gold: Gold, given: Given) -> Judgement:
        """Unjudged where there is no verdict to be had; JudgingOver where there is none for any answer."""
        by_rule = gold.match == "exact_text" or not fold(gold.answer) or not fold(given.answer or "")
        if by_rule:
            return ExactJudge().judge(question, gold, given.answer)
        asking = Counting(self.ask)
        try:
            votes = [self._vote(question, gold, given, seed, asking) for seed in self._seeds()]
        except Unjudged as error:
            error.use = asking.use
            raise
        return replace(panel.decide(votes), use=asking.use)

    def _seeds(self) -> list[int | None]:
        first, votes = self.settings.seed, self.settings.votes
        return [None] * votes if first == "none" else [*range(first, first + votes)]

    def _vote(self, question: str, gold: Gold, given: Given, seed: int | None, asking: Counting) -> Judgement:
        """The best word on any of the references."""
        best: Judgement | None = None
        for reference in references(gold, self.settings.aliases):
            said = self._one(messages(self.prompt, question, reference, given), given, seed, asking)
            if best is None or _BEST_FIRST.index(said.label) < _BEST_FIRST.index(best.label):
                best = said
            if best.label == "correct":
                break
        assert best is not None
        return best

    def _one(self, asked: list[Message], given: Given, seed: int | None, asking: Counting) -> Judgement:
        quoted = [given.answer or "", given.raw, given.rationale]
        temperature, _ = self.settings.sampling

        def ask(wrong: str) -> str:
            return asking.ask(asked_again(asked, wrong, KEYS) if wrong else asked, temperature, seed)

        try:
            return ask_until_used(ask, lambda reply: read_reply(reply, quoted), ASKS)
        except NoUse as left:
            why = f"{ASKS} replies of the judge without a verdict; of the last: {left}"
            raise Unjudged(why, left.reply) from None


def make(settings: JudgeConfig) -> LlmJudge:
    """UsageError when the model or its prompt is missing. Asks no server."""
    from fieldmark.judging.model import TO_JUDGE, AskedModel

    if not settings.model:
        raise UsageError(
            "--judge llm needs --judge-model, the model that judges (and --judge-url, its server)"
        )
    model = AskedModel.of(settings.model, settings, TO_JUDGE)
    return LlmJudge(
        settings, read_prompt("fieldmark.evals.judges", PROMPT, settings.prompts), model.ask, model.check
    )


JUDGE = make
