"""Which questions break the rules: the interface, and a deterministic detector that knows a lexicon.

`RULES` says which of the paper's ten constraints (the prompt of its figure 13) each kind belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fieldmark.evals.amigo.constraint import Constraint, Reply
from fieldmark.evals.amigo.hearing import hear, is_yes_no
from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.rows import Violation, ViolationKind

RULES: dict[ViolationKind, int] = {
    "prohibited_attribute": 4,
    "image_index": 6,
    "repeated_type": 5,
    "compound_of_confirmed": 5,
    "several_features": 2,
    "two_questions": 2,
    "not_yes_no": 2,
    "neither": 2,
}
_THING = "image|picture|photo|dress|garment|option|item|candidate|one|batch"
_ORDINAL = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|[1-9]\\d*(?:st|nd|rd|th)"
_INDEX = re.compile(
    rf"#\s*\d+|\b(?:{_THING}|number|index)\s*(?:number|no\.?|index)?\s*\d+\b(?!-)"
    rf"|\b(?:{_ORDINAL})\s+(?:{_THING})\b|\bis it (?:the )?(?:{_ORDINAL})\b"
    r"|\b(?:in|of|from) (?:the )?batch\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Past:
    """A question that was answered. Skipped ones told nothing and count for no later one."""

    question: str
    reply: Reply
    constraint: Constraint | None


class Detector(Protocol):
    """`check` is asked about a whole text of the player that is no guess. `recheck`: a question that was
    answered before may be asked again. Model faults of a detector are raised, never turned into a Skip.
    """

    @property
    def name(self) -> str: ...

    def check(self, text: str, past: Sequence[Past], recheck: bool) -> Violation | None: ...


@dataclass(frozen=True)
class LexiconDetector:
    """See the module's docstring. A question whose words it does not know breaks no rule on attributes."""

    lexicon: Lexicon
    name: str = "lexicon"

    def check(self, text: str, past: Sequence[Past], recheck: bool) -> Violation | None:
        return self._of_form(text) or self._of_attributes(hear(text).question, past, recheck)

    def _of_form(self, text: str) -> Violation | None:
        heard = hear(text)
        if heard.sort == "questions":
            return Violation(kind="two_questions")
        if heard.sort != "question":
            return Violation(kind="neither", about=heard.sort)
        index = _INDEX.search(heard.question)
        if index:
            return Violation(kind="image_index", about=index.group())
        return None if is_yes_no(heard.question) else Violation(kind="not_yes_no")

    def _of_attributes(self, question: str, past: Sequence[Past], recheck: bool) -> Violation | None:
        found = self.lexicon.mentions(question)
        banned = [each for each in found if each.prohibited]
        if banned:
            return Violation(kind="prohibited_attribute", about=self.lexicon.prohibited[banned[0].type].name)
        types = [*dict.fromkeys(each.type for each in found)]
        if len(types) > 1:
            return _of_several(types, past)
        if not types:
            return None
        again = [each for each in past if each.constraint and each.constraint.type == types[0]]
        asked = self.lexicon.constraint(question)
        if not again or (recheck and any(each.constraint == asked for each in again)):
            return None
        return Violation(kind="repeated_type", about=types[0])


def _of_several(types: list[str], past: Sequence[Past]) -> Violation:
    """Several attributes in one question: confirmed ones, asked ones, or simply too many."""
    confirmed = {each.constraint.type for each in past if each.constraint and each.reply == "Yes"}
    asked = {each.constraint.type for each in past if each.constraint}
    kind: ViolationKind = "several_features"
    if confirmed.issuperset(types):
        kind = "compound_of_confirmed"
    elif asked.issuperset(types):
        kind = "repeated_type"
    return Violation(kind=kind, about=", ".join(types))
