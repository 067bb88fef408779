"""A model that types questions. A reply that is of no use is asked again, ASKS times in all."""

from __future__ import annotations

from typing import Any

from fieldmark.evals.asking.identity import name_of, sha256_of
from fieldmark.evals.asking.insisting import insist
from fieldmark.evals.asking.request import Ask, messages, read_prompt, shortened
from fieldmark.evals.typing.dimensions import DIMENSIONS, VERSION
from fieldmark.evals.typing.reply import KEYS, read_reply
from fieldmark.model_config import ClassifierConfig
from fieldmark.task import Task

PROMPT = "question_type.md"
MAX_CHARACTERS = 8_000
"""Of a question or an answer; what is over is left out in its middle."""


class Typer:
    """`name` is `llm/MODEL/` and a hash of all that it types by. `with_answer`: it sees the answer too."""

    def __init__(self, settings: ClassifierConfig, prompt: str, ask: Ask, *, with_answer: bool) -> None:
        self._settings, self._ask, self._with_answer = settings, ask, with_answer
        self._system = f"{prompt.rstrip()}\n\n{_defined()}\n"
        self.name = name_of("llm", settings.name, self.described)

    @property
    def described(self) -> dict[str, Any]:
        """All that it types by. `prompt_sha256` is of the prompt with the dimensions."""
        return {
            "model": self._settings.name,
            "prompt_sha256": sha256_of(self._system),
            "dimensions": VERSION,
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "with_answer": self._with_answer,
        }

    def __call__(self, task: Task) -> dict[str, str]:
        """Facet → value. Unjudged: no word on this question."""
        told = {"question": shortened(task.question, MAX_CHARACTERS)}
        if self._with_answer:
            told["answer"] = shortened(task.gold.answer, MAX_CHARACTERS)
        asked = messages(self._system, told)
        quoted = list(told.values())
        return insist(
            self._ask,
            self._settings,
            asked,
            KEYS,
            lambda reply: read_reply(reply, quoted),
            "without a type",
        )


def make(settings: ClassifierConfig, *, with_answer: bool = False) -> Typer:
    """UsageError when its server or its prompt is missing."""
    from fieldmark.judging.model import TO_TYPE, AskedModel

    model = AskedModel.of(settings.name, settings, TO_TYPE)
    prompt = read_prompt("fieldmark.evals.typing", PROMPT, settings.prompts)
    model.check()
    return Typer(settings, prompt, model.ask, with_answer=with_answer)


def _defined() -> str:
    parts = []
    for name, values in DIMENSIONS.items():
        parts.append(f"`{name}`:\n" + "\n".join(f"- `{value}`: {text}" for value, text in values.items()))
    return "\n\n".join(parts)
