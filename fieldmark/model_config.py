"""How models are asked: the agent's, and those that judge, classify, or referee a game."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from fieldmark.task import Space

DEFAULT_KEY_ENV = "OPENAI_API_KEY"
FineR1Variant = Literal[
    "closed-official", "closed-strict", "card", "text-inclusion", "open-strict", "semantic"
]
"""How the judge `fine-r1` scores."""
MODEL_JUDGES = frozenset({"llm", "pix2fact"})
NOT_FORCED = frozenset({"model", "messages", "input", "instructions", "system", "tools", "stream"})
"""What an agent says, and how it listens: never changed."""


class ModelConfig(BaseModel):
    """A model and where it is served. `key_env` names the variable that holds the key, never the key.

    `sees` is whether it takes pictures; a built-in model knows that of itself. `space` is what the boxes it
    gives refer to unless it says otherwise; None: what is known of its family, else pixels of the original.
    `force` are parameters of sampling that every request has, whatever the agent asks (`temperature`,
    `seed`, …); `max_tokens` goes out under the name that the agent's wire format has for it.
    `context` and `output`, in tokens, are what agents of others are told of the model's window and replies.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = "builtin/scout"
    base_url: str | None = None
    key_env: str = DEFAULT_KEY_ENV
    sees: bool = True
    space: Space | None = None
    force: dict[str, Any] = {}
    context: int = Field(default=65_536, ge=1024)
    output: int = Field(default=8_192, ge=16)

    @field_validator("force")
    @classmethod
    def _no_content(cls, force: dict[str, Any]) -> dict[str, Any]:
        if told := sorted(NOT_FORCED & force.keys()):
            raise ValueError(f"{told[0]!r} is no parameter of sampling and cannot be forced")
        if None in force.values():
            raise ValueError("a forced parameter has a value")
        return force


class AskedConfig(BaseModel):
    """How a model is asked that is no agent: the judge, the classifier.

    It is served at `base_url`; `key_env` names the variable of its key. `temperature` and `seed` are sent
    unless they are "none", for models that refuse them. `prompts` is a folder with a prompt that stands in
    for ours.
    """

    model_config = ConfigDict(extra="forbid")

    base_url: str | None = None
    key_env: str = DEFAULT_KEY_ENV
    temperature: float | Literal["none"] = 0.0
    seed: int | Literal["none"] = 0
    prompts: Path | None = None

    @field_validator("temperature", "seed", mode="before")
    @classmethod
    def _number_or_none(cls, value: object, info: ValidationInfo) -> object:
        kinds = {
            "temperature": (r"[0-2](\.\d+)?", "a number from 0 to 2"),
            "seed": (r"-?\d+", "a whole number"),
        }
        pattern, wanted = kinds[str(info.field_name)]
        if not re.fullmatch(f"none|{pattern}", str(value)):
            raise ValueError(f"give {wanted}, or none to send none")
        return value

    @property
    def sampling(self) -> tuple[float | None, int | None]:
        """Temperature and seed as a request has them; None: it has none."""
        temperature, seed = self.temperature, self.seed
        return None if temperature == "none" else temperature, None if seed == "none" else seed


class ClassifierConfig(AskedConfig):
    """The model that classifies wrong answers where facts do not; its prompt is `classifier.md`."""

    name: str


class JudgeConfig(AskedConfig):
    """A judge by name, or a file of the user's own; the rest is for a model (`MODEL_JUDGES`) and `fine-r1`.

    `votes`: how often `model` is asked about an answer. `aliases`: whether it gets them beside the reference
    (`joined`), one a request (`any`), or not (`none`). Its prompt is the judge's name with `.md`.

    Of `fine-r1`, `variant` is a way of scoring; None: strict in the closed world, text inclusion in the open
    one. `siglip` is the text tower of the variant `semantic`, a folder or a hub's name, `super_category` how
    a dataset is called there (`evals/benchmarks/fine_r1/`).
    """

    name: str = "exact"
    model: str | None = None
    votes: int = Field(default=1, ge=1, le=99)
    aliases: Literal["joined", "any", "none"] = "joined"
    variant: FineR1Variant | None = None
    siglip: str | None = None
    super_category: Literal["official", "ours"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        """In run.json, and in a file, a name may stand alone."""
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _only_a_model_has_settings(self) -> JudgeConfig:
        of_fine_r1 = {"variant", "siglip", "super_category"}
        of_models = type(self).model_fields.keys() - of_fine_r1
        for judges, settings, told in (
            (MODEL_JUDGES, of_models, "a judge that is a model: take --judge llm"),
            (("fine-r1",), of_fine_r1, "the judge fine-r1: take --judge fine-r1"),
        ):
            given = sorted(self.model_fields_set & settings - {"name"})
            if given and self.name not in judges:
                raise ValueError(f"{given[0]} is for {told}")
        if self.variant != "semantic" and (self.siglip or self.super_category):
            raise ValueError("siglip and super_category are for --judge-variant semantic")
        return self


class GameConfig(AskedConfig):
    """How the games of AMIGO are played (docs/amigo.md); what a model is asked for, `model` is.

    `oracle` answers questions: `labels`, or `vlm`, which looks. `detector` says which break a rule:
    `lexicon`, or `llm`. `noise`: one answer a game that is false; which one is drawn by the run's seed.
    `batch`: pictures an upload.
    """

    oracle: Literal["labels", "vlm"] = "labels"
    detector: Literal["lexicon", "llm"] = "lexicon"
    model: str | None = None
    noise: Literal["none", "flip", "unsure"] = "none"
    batch: int = Field(default=5, ge=1, le=50)
