"""The violation detector that is a model, asked with a few examples (`detector.md`), as the paper's is.

A reply without a kind is asked again, ASKS times in all; then Unjudged is raised: a fault of ours, never a
Skip.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from fieldmark.evals.amigo.detector import Past
from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.rows import Violation, ViolationKind
from fieldmark.evals.asking.insisting import insist
from fieldmark.evals.asking.reply import NotUsed, objects_with
from fieldmark.evals.asking.request import Ask, messages, read_prompt, shortened
from fieldmark.model_config import AskedConfig

PROMPT = "detector.md"
KEYS = "violation, about and reason"
MAX_CHARACTERS = 4_000
KINDS: tuple[ViolationKind, ...] = get_args(ViolationKind)


@dataclass(frozen=True)
class LlmDetector:
    """See the module's docstring. `settings`: temperature and seed; `model`: its name."""

    model: str
    lexicon: Lexicon
    prompt: str
    ask: Ask
    settings: AskedConfig

    @cached_property
    def name(self) -> str:
        """`llm/MODEL/` and a hash of what it decides by."""
        known = [self.prompt, self.settings.temperature, self.settings.seed, self._prohibited()]
        return f"llm/{self.model}/{hashlib.sha256(json.dumps(known).encode()).hexdigest()[:8]}"

    def check(self, text: str, past: Sequence[Past], recheck: bool) -> Violation | None:
        asked = messages(
            self.prompt,
            {
                "noun": self.lexicon.noun,
                "prohibited": self._prohibited(),
                "past": [{"question": each.question, "answer": each.reply} for each in past],
                "recheck": recheck,
                "text": shortened(text, MAX_CHARACTERS),
            },
        )
        return insist(
            self.ask,
            self.settings,
            asked,
            KEYS,
            lambda reply: read_reply(reply, text),
            "of the detector without a kind",
        )

    def _prohibited(self) -> list[str]:
        return [each.name for each in self.lexicon.prohibited.values()]


def read_reply(reply: str, text: str) -> Violation | None:
    """What a reply says. NotUsed: no object with a kind that is known, or one that the player wrote."""
    value = objects_with(reply, "violation", [text])[0].value
    kind = value["violation"]
    if kind is None:
        return None
    if kind not in KINDS:
        raise NotUsed(f"its violation is none of null, {', '.join(KINDS)}")
    about = value.get("about")
    return Violation(kind=kind, about=about if isinstance(about, str) else "")


def make(model: str, ask: Ask, lexicon: Lexicon, settings: AskedConfig) -> LlmDetector:
    """With our prompt, or that of `settings.prompts` (UsageError where it lacks one)."""
    return LlmDetector(
        model, lexicon, read_prompt("fieldmark.evals.amigo", PROMPT, settings.prompts), ask, settings
    )
