"""attributes.toml: the attributes, how they are asked about, by whom, and from when on a vote is a label."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fieldmark.evals.amigo.constraint import ANY, NONE
from fieldmark.evals.amigo.generating import TAUS, GeneratorSettings
from fieldmark.model_config import AskedConfig
from fieldmark.prices import Price
from fieldmark.toml_file import read_toml_as

FILE = "attributes.toml"
RESERVED = (ANY, NONE)
"""Names that no value can have: they mean something in a game."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Labeller(AskedConfig):
    """A model that answers, and what its word weighs. Its prompt is `attributes.md`."""

    name: str
    weight: float = Field(default=1.0, gt=0)


class Resolution(_Strict):
    """A picture is shown with its longer side at most `side` px; it is never enlarged."""

    side: int = Field(ge=28)
    weight: float = Field(default=1.0, gt=0)


class Template(_Strict):
    """A Yes/No question with the places `{value}` and, where wanted, `{noun}`."""

    text: str
    weight: float = Field(default=1.0, gt=0)

    @field_validator("text")
    @classmethod
    def _places(cls, text: str) -> str:
        filled = text.replace("{value}", "").replace("{noun}", "")
        if "{value}" not in text or "{" in filled or "}" in filled:
            raise ValueError(f"{text!r} must hold {{value}}, and no other place than {{noun}}")
        return text


class Kind(_Strict):
    """A type of attribute. `values`: value → phrases, the first being the one that is asked with.

    `question`: asks for the value. `absent`: a picture can be without (label `none`). `several`: a picture
    can have more than one. `prohibited`: may not be asked about in a game.
    """

    question: str
    values: dict[str, list[str]] = Field(min_length=1)
    absent: bool = False
    several: bool = False
    prohibited: bool = False

    @field_validator("values")
    @classmethod
    def _named(cls, values: dict[str, list[str]]) -> dict[str, list[str]]:
        for name, phrases in values.items():
            if name in RESERVED:
                raise ValueError(f"no value can be called {name!r}: leave it out, or say absent = true")
            if not any(phrases[:1]):
                raise ValueError(f"{name} needs a phrase to ask with")
        return values


class AuditSample(_Strict):
    """How many labelled pictures of each type a person looks at, drawn by `seed`."""

    per_type: int = Field(default=20, ge=1)
    seed: int = 0


class Episodes(GeneratorSettings):
    """The thresholds that episodes are generated at, and how."""

    taus: tuple[float, ...] = TAUS

    @field_validator("taus")
    @classmethod
    def _tenths(cls, taus: tuple[float, ...]) -> tuple[float, ...]:
        if len({round(tau * 10) for tau in taus}) < len(taus):
            raise ValueError("thresholds must differ by a tenth: episodes are named by it")
        return taus


class Settings(_Strict):
    """The whole of attributes.toml.

    `keep_from`: the share of all weight from which on a value is held to be there, or not to be.
    `value_weight`: what the answer to a type's own question weighs, beside that to a Yes/No template.
    """

    noun: str
    keep_from: float = Field(default=0.7, gt=0.5, le=1)
    value_weight: float = Field(default=1.0, gt=0)
    models: list[Labeller] = Field(min_length=1)
    resolutions: list[Resolution] = Field(min_length=1)
    templates: list[Template] = Field(min_length=1)
    types: dict[str, Kind] = Field(min_length=1)
    audit: AuditSample = AuditSample()
    episodes: Episodes = Episodes()
    prices: dict[str, Price] = {}

    @field_validator("models")
    @classmethod
    def _differ(cls, models: list[Labeller]) -> list[Labeller]:
        if len({(each.name, each.temperature, each.seed) for each in models}) < len(models):
            raise ValueError("a model stands there twice, with the same temperature and seed")
        return models


def template() -> str:
    """What a new attributes.toml holds: the attributes of drawn garments, to be edited."""
    return (files(__package__) / "template.toml").read_text(encoding="utf-8")


def read_settings(path: Path) -> Settings:
    """UsageError: the first fault of the file, with the table and key."""
    return read_toml_as(path, Settings, "docs/attributes.md")
