"""What a judge that is a model is asked: its prompt, and the inputs as one JSON object.

The prompt is never filled in: what an agent wrote stands in the values of the object only, escaped, so that
no delimiter, placeholder or instruction in it can leave its value.
"""

from __future__ import annotations

from typing import Literal

from fieldmark.evals.asking import request
from fieldmark.evals.asking.request import Message, shortened
from fieldmark.evals.judges.base import Given
from fieldmark.task import Gold

Aliases = Literal["joined", "any", "none"]
"""How aliases reach the judge: beside the reference, each asked about by itself, or not at all."""
MAX_CHARACTERS = 20_000
"""Of the answer, the raw content and the rationale each; what is over is left out in their middle."""
KEYS = "verdict, score, finer and reason"


def references(gold: Gold, aliases: Aliases) -> list[str]:
    """The texts that an answer is held against, one request each."""
    names = [gold.answer, *(alias for alias in gold.aliases if alias.strip() and alias != gold.answer)]
    if aliases == "none":
        return [gold.answer]
    return names if aliases == "any" else [" | ".join(names)]


def messages(prompt: str, question: str, reference: str, given: Given) -> list[Message]:
    """System and user message of one request."""
    inputs = {
        "question": question,
        "reference_answer": reference,
        "model_answer": shortened(given.answer or "", MAX_CHARACTERS),
        "model_raw_content": shortened(given.raw, MAX_CHARACTERS),
        "model_rationale": shortened(given.rationale, MAX_CHARACTERS),
    }
    return request.messages(prompt, inputs)
