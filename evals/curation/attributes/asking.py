"""One question on one picture at one resolution, asked of one model; its replies are kept in the state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fieldmark.evals.amigo.constraint import Answer
from fieldmark.evals.asking.identity import sha256_of
from fieldmark.evals.asking.reply import NoUse, ask_until_used
from fieldmark.evals.asking.request import Ask, Message, asked_again, picture_message
from fieldmark.evals.curation.attributes.questions import KEYS, Question, questions
from fieldmark.evals.curation.attributes.settings import Labeller, Settings
from fieldmark.evals.curation.attributes.state import State
from fieldmark.evals.curation.attributes.voting import Vote
from fieldmark.tools.pictures.images import Staged, stage_bytes

ASKS = 3
PROMPT = "attributes.md"


@dataclass(frozen=True)
class Asker:
    """A model as it is asked; `url` as it may be published."""

    settings: Labeller
    url: str
    prompt: str
    ask: Ask


@dataclass(frozen=True)
class Request:
    """See the module's docstring. `picture_sha256`: of the file, before it was made smaller."""

    asker: Asker
    question: Question
    side: int
    weight: float
    staged: Staged
    picture_sha256: str

    @cached_property
    def described(self) -> dict[str, Any]:
        """All that the reply depends on."""
        model, meta = self.asker.settings, self.staged.view_meta
        return {
            "model": model.name, "temperature": model.temperature, "seed": model.seed,
            "prompt_sha256": sha256_of(self.asker.prompt), "picture_sha256": self.picture_sha256,
            "width": meta.width, "height": meta.height, "asked": self.question.inputs,
        }  # fmt: skip

    @cached_property
    def key(self) -> str:
        """Another server of the same model, or another weight, is no other request."""
        return hashlib.sha256(json.dumps(self.described, sort_keys=True).encode()).hexdigest()

    @property
    def recorded(self) -> dict[str, Any]:
        """What is kept of it beside its replies."""
        about = {"type": self.question.type, "value": self.question.value, "form": self.question.form}
        return {**self.described, **about, "side": self.side, "url": self.asker.url}

    def vote(self, state: State) -> Vote:
        """Unjudged: the server refuses it. ASKS replies without an answer are kept, and say nothing."""
        attempt = 0

        def ask(wrong: str) -> str:
            nonlocal attempt
            attempt += 1
            known = state.reply(self.key, attempt)
            return self._fresh(state, attempt, wrong) if known is None else known

        try:
            return self._said(ask_until_used(ask, self.question.read, ASKS))
        except NoUse:
            return self.silent()

    def silent(self) -> Vote:
        """The vote of a model that gave no answer."""
        return self._said({})

    def _said(self, said: Mapping[str, Answer]) -> Vote:
        return Vote(self.question.type, self.weight, self.question.values, said)

    def _fresh(self, state: State, attempt: int, wrong: str) -> str:
        model, meta = self.asker.settings, self.staged.view_meta
        data = json.dumps(self.question.inputs, ensure_ascii=False)
        asked: list[Message] = [
            {"role": "system", "content": self.asker.prompt},
            picture_message(self.staged.view, meta.media_type, data),
        ]
        text, tokens = self.asker.ask(
            asked_again(asked, wrong, KEYS) if wrong else asked,
            *model.sampling,
        )
        state.keep(self.key, attempt, model.name, self.recorded, text, tokens)
        return text


def requests(picture: Path, settings: Settings, askers: Sequence[Asker]) -> list[Request]:
    """All on one picture. Where it is smaller than two resolutions they are one, that which stands first.

    DataFault: the picture cannot be read.
    """
    found: dict[str, Request] = {}
    for each in _all(picture, settings, askers):
        found.setdefault(each.key, each)
    return [*found.values()]


def _all(picture: Path, settings: Settings, askers: Sequence[Asker]) -> Iterator[Request]:
    data = picture.read_bytes()
    digest, asked = hashlib.sha256(data).hexdigest(), [*questions(settings)]
    for each in settings.resolutions:
        staged = stage_bytes(data, each.side, any_shape=True)
        for asker in askers:
            for question in asked:
                weight = asker.settings.weight * each.weight * question.weight
                yield Request(asker, question, each.side, weight, staged, digest)
