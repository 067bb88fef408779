"""Stage two of the failure taxonomy: a model says why an answer was wrong, where facts do not.

It reads question, reference, answer, verdict, facts and the trace in short, and no picture.
"""

from __future__ import annotations

from typing import Any

from fieldmark.evals.asking.request import read_prompt
from fieldmark.evals.failures.asked import AskedClassifier
from fieldmark.evals.failures.case import Case, Decision, Open
from fieldmark.evals.failures.llm_reply import read_reply
from fieldmark.evals.failures.llm_request import KEYS, inputs, system
from fieldmark.evals.failures.rendering import Step
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.model_config import ClassifierConfig

PROMPT = "classifier.md"


class LlmClassifier(AskedClassifier):
    """See the module's docstring, and `AskedClassifier`."""

    def __call__(self, case: Case, open_: Open) -> Decision | None:
        """Its word; None without gold or trace to go by, and when the asking is over. Unjudged: no word."""

        def told(steps: list[Step]) -> dict[str, Any]:
            return inputs(case, open_, steps)

        return self.ask_about(case, told, KEYS, read_reply)


def make(settings: ClassifierConfig) -> LlmClassifier:
    """UsageError when its server or its prompt is missing. Asks no server."""
    from fieldmark.judging.model import TO_CLASSIFY, AskedModel

    model = AskedModel.of(settings.name, settings, TO_CLASSIFY)
    prompt = read_prompt("fieldmark.evals.failures", PROMPT, settings.prompts)
    return LlmClassifier(settings, system(prompt), VERSION, model.ask, model.check)
