"""What is asked of a picture: each type's own question, and each of its values by every Yes/No template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fieldmark.evals.amigo.constraint import NONE, Answer
from fieldmark.evals.asking.reply import NotUsed, objects_with
from fieldmark.evals.curation.attributes.settings import Kind, Settings

KEYS = "answer"
UNSURE: Answer = "Unsure"


@dataclass(frozen=True)
class Question:
    """`value`: what a Yes/No question is about; "" where the question asks for the value itself. `form`: its
    template before it was filled in, `weight` that of the form.
    """

    type: str
    value: str
    form: str
    weight: float
    inputs: dict[str, Any]

    @property
    def values(self) -> list[str]:
        """The values that an answer says something of."""
        return [self.value] if self.value else [each for each in self.inputs["choices"] if each != NONE]

    def read(self, reply: str) -> dict[str, Answer]:
        """Value → what the reply says of it. NotUsed: the reply says nothing that counts, or two things."""
        answer, *others = (each.value["answer"] for each in objects_with(reply, "answer"))
        if any(other != answer for other in others):
            raise NotUsed("it holds several answers")
        if self.value:
            return {self.value: _one_of(answer)}
        if answer == UNSURE:
            return dict.fromkeys(self.values, UNSURE)
        chosen = [answer] if isinstance(answer, str) else answer
        if not isinstance(chosen, list) or not chosen or any(c not in self.inputs["choices"] for c in chosen):
            raise NotUsed("its answer is neither Unsure nor a list of names of the choices")
        if NONE in chosen and len(chosen) > 1:
            raise NotUsed("its answer has none beside something else")
        return {name: "Yes" if name in chosen else "No" for name in self.values}


def questions(settings: Settings) -> Iterator[Question]:
    """All of them, type by type."""
    for name, kind in settings.types.items():
        yield _own(name, kind, settings)
        for value, phrases in kind.values.items():
            for each in settings.templates:
                text = each.text.replace("{noun}", settings.noun).replace("{value}", phrases[0])
                yield Question(name, value, each.text, each.weight, {"question": text})


def _own(name: str, kind: Kind, settings: Settings) -> Question:
    choices = {value: phrases[0] for value, phrases in kind.values.items()} | {NONE: "none of these"}
    text = kind.question.replace("{noun}", settings.noun)
    inputs = {"question": text, "choices": choices}
    return Question(name, "", kind.question, settings.value_weight, inputs)


def _one_of(answer: object) -> Answer:
    if answer == "Yes" or answer == "No" or answer == "Unsure":
        return answer
    raise NotUsed("its answer is none of Yes, No, Unsure")
