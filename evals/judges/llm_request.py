"""What a judge that is a model is asked: its prompt, and the inputs as one JSON object.

The prompt is never filled in: what an agent wrote stands in the values of the object only, escaped, so that
no delimiter, placeholder or instruction in it can leave its value.
"""

from __future__ import annotations

import json
from typing import Literal

from fieldmark.evals.judges.base import Given
from fieldmark.task import Gold

Aliases = Literal["joined", "any", "none"]
"""How aliases reach the judge: beside the reference, each asked about by itself, or not at all."""
MAX_CHARACTERS = 20_000
"""Of the answer, the raw content and the rationale each; what is over is left out in their middle."""
Message = dict[str, str]


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
        "model_answer": _shortened(given.answer or ""),
        "model_raw_content": _shortened(given.raw),
        "model_rationale": _shortened(given.rationale),
    }
    data = json.dumps(inputs, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()
    return [{"role": "system", "content": prompt}, {"role": "user", "content": data}]


def asked_again(asked: list[Message], wrong: str) -> list[Message]:
    """The same request after a reply without a verdict. That reply is left out: it can quote the answer."""
    again = (
        f"Your last reply was not used: {wrong}. Reply with one JSON object that has only the keys verdict, "
        "score, finer and reason."
    )
    return [*asked, {"role": "user", "content": again}]


def _shortened(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]} [… {len(text) - 2 * half} characters …] {text[-half:]}"
