"""What the classifier is asked: its prompt with the classes, and a case as one JSON object."""

from __future__ import annotations

from typing import Any

from fieldmark.evals.asking.request import shortened
from fieldmark.evals.failures.case import Case, Open
from fieldmark.evals.failures.rendering import Step
from fieldmark.evals.failures.taxonomy import CLASSES, SUBS
from fieldmark.records import Row

KEYS = "label, sub, link, events and reason"
MAX_CHARACTERS = 20_000
"""Of the answer; what is over is left out in its middle."""


def system(prompt: str) -> str:
    """The prompt and, after it, the classes as the taxonomy defines them."""
    classes = [f"- `{label}`: {each.text}" for label, each in CLASSES.items()]
    subs = [f"- `{sub}`: {text}" for sub, text in SUBS.items()]
    parts = [prompt.rstrip(), "Classes:", "\n".join(classes)]
    return "\n\n".join([*parts, "Sub-classes of `wrong_entity_retrieval`:", "\n".join(subs)]) + "\n"


def inputs(case: Case, left_open: Open, steps: list[Step]) -> dict[str, Any]:
    """A case with gold, as the user message holds it."""
    return {**about(case), "left_open": left_open.why, "steps": steps}


def about(case: Case) -> dict[str, Any]:
    """What is known of a case with gold, but for what it did."""
    assert case.gold is not None
    return {
        "question": case.question,
        "reference_answers": [case.gold.answer, *case.gold.aliases],
        "answer": shortened(case.answer, MAX_CHARACTERS) or None,
        "ended_as": case.record.status,
        "verdict": case.outcome,
        "facts": {**_told(case.facts), **_told(case.gold_facts)},
    }


def _told(row: Row | None) -> dict[str, Any]:
    """What a row of facts says, without its key and what is unknown."""
    return row.model_dump(mode="json", exclude={"id", "epoch"}, exclude_none=True) if row else {}
