"""A model that says which link broke first, where facts do not decide it."""

from __future__ import annotations

from typing import Any

from fieldmark.evals.asking.request import read_prompt
from fieldmark.evals.failures.asked import AskedClassifier
from fieldmark.evals.failures.case import Case
from fieldmark.evals.failures.chain.by_facts import Broken
from fieldmark.evals.failures.chain.reply import KEYS, read_reply
from fieldmark.evals.failures.chain.scheme import KINDS, SCHEME, STAGES
from fieldmark.evals.failures.llm_request import about
from fieldmark.evals.failures.rendering import Step
from fieldmark.model_config import ClassifierConfig

PROMPT = "chain.md"


class ChainModel(AskedClassifier):
    """Its word on a case; None without gold or trace, and when the asking is over. Unjudged: no word."""

    def __call__(self, case: Case, presumed: Broken | None) -> Broken | None:
        suggested = presumed.link if presumed else None

        def told(steps: list[Step]) -> dict[str, Any]:
            return {**about(case), "presumed": suggested, "steps": steps}

        return self.ask_about(case, told, KEYS, read_reply)


def make(settings: ClassifierConfig) -> ChainModel:
    """UsageError when its server or its prompt is missing. Asks no server."""
    from fieldmark.judging.model import TO_CLASSIFY, AskedModel

    model = AskedModel.of(settings.name, settings, TO_CLASSIFY)
    prompt = read_prompt("fieldmark.evals.failures.chain", PROMPT, settings.prompts)
    return ChainModel(settings, f"{prompt.rstrip()}\n\n{_defined()}\n", SCHEME, model.ask, model.check)


def _defined() -> str:
    parts = []
    for stage, text in STAGES.items():
        kinds = [f"- `{kind}`: {what}" for kind, (link, what) in KINDS.items() if link == stage]
        parts.append("\n".join([f"`{stage}`: {text} Its kinds:", *kinds]))
    return "\n\n".join(parts)
