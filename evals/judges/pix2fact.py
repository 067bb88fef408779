"""The `pix2fact` judge: a model says True or False, as that paper's does (arXiv 2602.00593, appendix B.2).

It reads the ground truth and the answer that was read from the reply, nothing else: no question, no reasons.
Only the bare word counts; anything else is asked again, so often in all as ASKS, and then there is none: the
answer is *unjudged*, and False in the table of the paper's protocol alone (`evals/metrics/pix2fact.py`).
An answer without text, and `[NO_DEFINITIVE_ANSWER]` on either side, are decided by rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.evals.asking import request
from fieldmark.evals.asking.identity import name_of, sha256_of
from fieldmark.evals.asking.reply import NotUsed, NoUse, ask_until_used
from fieldmark.evals.asking.request import Ask, Message, read_prompt, shortened
from fieldmark.evals.judges.base import Judgement, Unjudged
from fieldmark.evals.judges.counting import Counting
from fieldmark.evals.judges.llm_request import MAX_CHARACTERS, references
from fieldmark.evals.judges.normalise import fold
from fieldmark.five_keys import NO_ANSWER
from fieldmark.model_config import JudgeConfig
from fieldmark.records import VerdictLabel
from fieldmark.task import Gold
from fieldmark.tools.model_text import without_thinking

ASKS = 3
PROMPT = "pix2fact.md"
_WORDS: dict[str, VerdictLabel] = {"True": "correct", "False": "incorrect"}


@dataclass(frozen=True)
class Pix2FactJudge:
    """See the module's docstring. `prompt` is its system message.

    `check_reachable` raises a UsageError when its server is not there.
    """

    settings: JudgeConfig
    prompt: str
    ask: Ask
    check_reachable: Callable[[], None] = lambda: None

    @cached_property
    def name(self) -> str:
        """`pix2fact/MODEL/` and a hash of all that it judges by: another hash is another judge."""
        return name_of("pix2fact", self.settings.model, self.described)

    @property
    def described(self) -> dict[str, Any]:
        """For run.json: all that it judges by."""
        return {
            "model": self.settings.model,
            "prompt_sha256": sha256_of(self.prompt),
            "temperature": self.settings.temperature,
            "seed": self.settings.seed,
            "aliases": self.settings.aliases,
            "asks": ASKS,
        }

    def judge(self, question: str, gold: Gold, answer: str | None) -> Judgement:
        """Unjudged where there is no verdict to be had; JudgingOver where there is none for any answer."""
        given = (answer or "").strip()
        if not fold(given):
            return Judgement.of("incorrect", "no answer")
        if NO_ANSWER in (given, gold.answer.strip()):
            return Judgement.of(_of(given == gold.answer.strip()), "decided by rule: no definitive answer")
        counting = Counting(self.ask)
        try:
            right = any(self._one(text, given, counting) for text in references(gold, self.settings.aliases))
        except Unjudged as error:
            error.use = counting.use
            raise
        return replace(Judgement.of(_of(right), ""), use=counting.use)

    def _one(self, reference: str, given: str, counting: Counting) -> bool:
        inputs = {"ground_truth": reference, "model_answer": shortened(given, MAX_CHARACTERS)}
        asked = request.messages(self.prompt, inputs)
        temperature, seed = self.settings.sampling

        def ask(wrong: str) -> str:
            return counting.ask(_again(asked, wrong), temperature, seed)

        try:
            return ask_until_used(ask, read_word, ASKS) == "correct"
        except NoUse as left:
            why = f"{ASKS} replies of the judge that are neither True nor False"
            raise Unjudged(why, left.reply) from None


def read_word(text: str) -> VerdictLabel:
    """The verdict of a reply that is one of the two words. NotUsed else."""
    label = _WORDS.get(without_thinking(text))
    if label is None:
        raise NotUsed("it is not one word, True or False")
    return label


def _again(asked: list[Message], wrong: str) -> list[Message]:
    if not wrong:
        return asked
    again = f"Your last reply was not used: {wrong}. Reply with one word: True or False."
    return [*asked, {"role": "user", "content": again}]


def _of(right: bool) -> VerdictLabel:
    return "correct" if right else "incorrect"


def make(settings: JudgeConfig) -> Pix2FactJudge:
    """UsageError when the model or its prompt is missing, or for votes. Asks no server."""
    from fieldmark.judging.model import TO_JUDGE, AskedModel

    if not settings.model:
        raise UsageError(
            "--judge pix2fact needs --judge-model, the model that judges (and --judge-url, its server)"
        )
    if settings.votes > 1:
        raise UsageError("--judge-votes is for --judge llm: the judge pix2fact is asked once")
    model = AskedModel.of(settings.model, settings, TO_JUDGE)
    prompt = read_prompt("fieldmark.evals.judges", PROMPT, settings.prompts)
    return Pix2FactJudge(settings, prompt, model.ask, model.check)


JUDGE = make
