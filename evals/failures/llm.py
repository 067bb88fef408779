"""Stage two of the failure taxonomy: a model says why an answer was wrong, where facts do not.

It reads question, reference, answer, verdict, facts and the trace in short, and no picture. A reply without a
class is asked again, so often in all as ASKS, and then the case stays open. So do all further cases when its
server has no quota, refuses the key, or does not answer OUTAGES times in a row.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

from fieldmark.config import ClassifierConfig
from fieldmark.evals.asking.reply import NoUse, ask_until_used
from fieldmark.evals.asking.request import Ask, asked_again, messages, read_prompt
from fieldmark.evals.failures.case import Case, Decision, Open
from fieldmark.evals.failures.llm_reply import read_reply
from fieldmark.evals.failures.llm_request import KEYS, inputs, system
from fieldmark.evals.failures.rendering import Step, compact, seqs
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.judges.base import JudgingOver, ServerDown, Unjudged

ASKS = 3
OUTAGES = 3
PROMPT = "classifier.md"


class LlmClassifier:
    """See the module's docstring. `name` is `llm/MODEL/` and a hash of all that it classifies by.

    `unanswered`: the cases that it was to classify and has no word on, through a fault of model or server.
    `check_reachable` raises a UsageError when its server is not there.
    """

    def __init__(
        self, settings: ClassifierConfig, prompt: str, ask: Ask, check_reachable: Callable[[], None]
    ) -> None:
        self.check_reachable = check_reachable
        self.unanswered = 0
        self._settings = settings
        self._system = system(prompt)
        self._ask = ask
        self._outages = 0
        self._over = False
        self._counting = threading.Lock()
        known = json.dumps(self.described, sort_keys=True)
        self.name = f"llm/{settings.name}/{hashlib.sha256(known.encode()).hexdigest()[:8]}"

    @property
    def described(self) -> dict[str, Any]:
        """For run.json: all that it classifies by. `prompt_sha256` is of the prompt with the classes."""
        return {
            "model": self._settings.name,
            "prompt_sha256": hashlib.sha256(self._system.encode("utf-8", "replace")).hexdigest(),
            "taxonomy": VERSION,
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "asks": ASKS,
        }

    def __call__(self, case: Case, open_: Open) -> Decision | None:
        """Its word; None without gold or trace to go by, and when the asking is over. Unjudged: no word."""
        if case.gold is None or not case.events:
            return None
        if self._over:
            self._count(None)
            return None
        try:
            decision = self._decide(case, open_)
        except Unjudged as error:
            self._count(error)
            raise
        self._outages = 0
        return decision

    def _decide(self, case: Case, open_: Open) -> Decision:
        steps = compact(case.events)
        asked = messages(self._system, inputs(case, open_, steps))
        temperature, seed = self._settings.temperature, self._settings.seed

        def ask(wrong: str) -> str:
            text, _ = self._ask(
                asked_again(asked, wrong, KEYS) if wrong else asked,
                None if temperature == "none" else temperature,
                None if seed == "none" else seed,
            )
            return text

        quoted = [case.answer, *(text for step in steps for text in _texts(step))]
        try:
            return ask_until_used(ask, lambda reply: read_reply(reply, seqs(steps), quoted), ASKS)
        except NoUse as left:
            why = f"{ASKS} replies of the classifier without a label; of the last: {left}"
            raise Unjudged(why, left.reply) from None

    def _count(self, error: Unjudged | None) -> None:
        with self._counting:
            self.unanswered += 1
            self._outages = self._outages + 1 if isinstance(error, ServerDown) else 0
            self._over = self._over or isinstance(error, JudgingOver) or self._outages >= OUTAGES


def make(settings: ClassifierConfig) -> LlmClassifier:
    """UsageError when its server or its prompt is missing. Asks no server."""
    from fieldmark.judging.model import TO_CLASSIFY, AskedModel

    model = AskedModel.of(settings.name, settings, TO_CLASSIFY)
    prompt = read_prompt("fieldmark.evals.failures", PROMPT, settings.prompts)
    return LlmClassifier(settings, prompt, model.ask, model.check)


def _texts(step: Step) -> list[str]:
    return [value for value in step.values() if isinstance(value, str)]
