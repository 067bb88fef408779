"""A model that says something of a wrong answer: how it is asked, and when the asking is over.

A reply that is of no use is asked again, so often in all as ASKS, and then the case stays open. So do all
further cases when its server has no quota, refuses the key, or does not answer OUTAGES times in a row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from fieldmark.evals.asking.identity import name_of, sha256_of
from fieldmark.evals.asking.insisting import ASKS, insist
from fieldmark.evals.asking.request import Ask, messages
from fieldmark.evals.failures.case import Case
from fieldmark.evals.failures.rendering import Step, compact, seqs
from fieldmark.evals.judges.base import JudgingOver, ServerDown, Unjudged
from fieldmark.model_config import ClassifierConfig

OUTAGES = 3
Said = TypeVar("Said")


class AskedClassifier:
    """`name` is `llm/MODEL/` and a hash of all that it classifies by. `system` is its prompt with all
    definitions, `version` that of these.

    `unanswered`: the cases that it was to classify and has no word on, through a fault of model or server.
    `check_reachable` raises a UsageError when its server is not there.
    """

    def __init__(
        self, settings: ClassifierConfig, system: str, version: str, ask: Ask,
        check_reachable: Callable[[], None],
    ) -> None:  # fmt: skip
        self.check_reachable = check_reachable
        self.unanswered = 0
        self._settings, self._system, self._version = settings, system, version
        self._ask = ask
        self._outages = 0
        self._over = False
        self._counting = threading.Lock()
        self.name = name_of("llm", settings.name, self.described)

    @property
    def described(self) -> dict[str, Any]:
        """For run.json: all that it classifies by. `prompt_sha256` is of the prompt with the definitions."""
        return {
            "model": self._settings.name,
            "prompt_sha256": sha256_of(self._system),
            "taxonomy": self._version,
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "asks": ASKS,
        }

    def ask_about(
        self,
        case: Case,
        told: Callable[[list[Step]], dict[str, Any]],
        keys: str,
        read: Callable[[str, Collection[int], Sequence[str]], Said],
    ) -> Said | None:
        """What `read` makes of a reply to the inputs that `told` makes of the steps of the trace.

        None without gold or trace to go by, and when the asking is over. Unjudged: no word.
        """
        if case.gold is None or not case.events:
            return None
        if self._over:
            self._count(None)
            return None
        try:
            said = self._said(case, told, keys, read)
        except Unjudged as error:
            self._count(error)
            raise
        self._outages = 0
        return said

    def _said(
        self,
        case: Case,
        told: Callable[[list[Step]], dict[str, Any]],
        keys: str,
        read: Callable[[str, Collection[int], Sequence[str]], Said],
    ) -> Said:
        steps = compact(case.events)
        asked = messages(self._system, told(steps))
        quoted = [case.answer, *(text for step in steps for text in _texts(step))]
        return insist(
            self._ask,
            self._settings,
            asked,
            keys,
            lambda reply: read(reply, seqs(steps), quoted),
            "of the classifier without a label",
        )

    def _count(self, error: Unjudged | None) -> None:
        with self._counting:
            self.unanswered += 1
            self._outages = self._outages + 1 if isinstance(error, ServerDown) else 0
            self._over = self._over or isinstance(error, JudgingOver) or self._outages >= OUTAGES


def _texts(step: Step) -> list[str]:
    return [value for value in step.values() if isinstance(value, str)]
