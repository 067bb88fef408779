"""curate.toml: what a curation is asked to do. Every threshold is here, and recorded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fieldmark.evals.curation.records import Step
from fieldmark.model_config import JudgeConfig, ModelConfig
from fieldmark.toml_file import read_toml_as

FILE = "curate.toml"
Rule = Literal["any", "all"]
QUESTION = "What is shown in this picture? Name it as specifically as you can."


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def model_key(model: ModelConfig) -> str:
    """How its answers are filed: its name, and a hash of what its requests are forced to have."""
    forced = hashlib.sha256(json.dumps(model.force, sort_keys=True).encode()).hexdigest()[:6]
    return f"{model.name} {forced}" if model.force else model.name


def takes_pictures(model: ModelConfig) -> bool:
    """Whether it is shown any: a built-in model is not. What one does not know says nothing of a picture."""
    return model.sees and not model.name.startswith("builtin/")


class ImportSettings(_Strict):
    """`min_images`: a class with fewer is dropped. `near_bits`: of 256, up to which two pictures are one."""

    min_images: int = Field(default=2, ge=1)
    near_bits: int = Field(default=31, ge=0, le=127)


class FirstScreen(_Strict):
    """One model, the first `images` of each class; a class with an accuracy below `keep_below` stays whole.

    FIKA-Bench does not publish its threshold: 0.5 is ours.
    """

    model: ModelConfig | None = None
    images: int = Field(default=10, ge=1)
    keep_below: float = Field(default=0.5, ge=0, le=1)


class HardScreen(_Strict):
    """Several models; classes with an accuracy below `keep_below`, and of these the samples answered wrongly.

    `classes`: below it by any of the models, or by all. `samples`: wrong by any, or by all. FIKA-Bench says
    40 % and leaves both open; `all` drops more.
    """

    models: list[ModelConfig] = []
    keep_below: float = Field(default=0.4, ge=0, le=1)
    classes: Rule = "all"
    samples: Rule = "all"

    @field_validator("models")
    @classmethod
    def _differ(cls, models: list[ModelConfig]) -> list[ModelConfig]:
        if len({model_key(model) for model in models}) < len(models):
            raise ValueError("a model stands there twice")
        return models


class Screens(_Strict):
    """`question`: what the models are asked of every picture, without any list of classes."""

    first: FirstScreen = FirstScreen()
    hard: HardScreen = HardScreen()
    judge: JudgeConfig = JudgeConfig()
    question: str = QUESTION

    def models(self) -> list[tuple[Step, ModelConfig]]:
        """Every model that is asked, and in which screen."""
        first: list[tuple[Step, ModelConfig]] = (
            [("screen.first", self.first.model)] if self.first.model else []
        )
        return [*first, *(("screen.hard", model) for model in self.hard.models)]


class LeakageSettings(_Strict):
    """From which `Likeness.score` a found picture is a copy, and from which it may be one: in between the
    candidate is discarded. `benchmarks/leakage.py` shows what they catch.

    `sources`: `host` or `host/path` of pages that are records of the source datasets.
    """

    copy_from: float = Field(default=0.5, gt=0, le=1)
    doubt_from: float = Field(default=0.3, gt=0, le=1)
    sources: tuple[str, ...] = ()


class AuditSettings(_Strict):
    """So many annotators must agree on a candidate, each without sight of the others."""

    annotators: int = Field(default=2, ge=1, le=10)


class Release(_Strict):
    """What the archive says of itself. `split`: the label of its items; `licence`: of the collection."""

    name: str = "benchmark"
    version: str = "1"
    licence: str = ""
    split: str = "public"


class Settings(_Strict):
    """The whole of curate.toml."""

    importing: ImportSettings = Field(default=ImportSettings(), alias="import")
    screen: Screens = Screens()
    leakage: LeakageSettings = LeakageSettings()
    audit: AuditSettings = AuditSettings()
    release: Release = Release()

    def of(self, step: Step) -> dict[str, Any]:
        """What of the settings a step depends on; a change of anything else is none to it."""
        parts: dict[Step, Any] = {
            "import": self.importing,
            "screen.first": self.screen.first,
            "screen.hard": self.screen.hard,
            "leakage": self.leakage,
            "audit": self.audit,
        }
        found = parts[step].model_dump(mode="json") if step in parts else {}
        asked = self.screen.model_dump(mode="json", include={"judge", "question"})
        return {**found, **(asked if step.startswith("screen") else {})}

    def hash(self, step: Step) -> str:
        """The first 12 hex digits of a sha256 over `of(step)`."""
        return hashlib.sha256(repr(self.of(step)).encode()).hexdigest()[:12]


def read_settings(path: Path) -> Settings:
    """UsageError: the first fault of the file, with the table and key."""
    return read_toml_as(path, Settings, "docs/curate.md")


TEMPLATE = """\
# What this curation is asked to do; docs/curate.md says what each line means.
[release]
name = "my-benchmark"
version = "1"
licence = ""              # of the collection: needed by `curate freeze`
split = "public"

[import]
min_images = 2            # a class with fewer is dropped
near_bits = 31            # of 256: up to which two pictures count as one

[screen]
judge = "exact"           # or { name = "llm", model = "…", base_url = "…" }

[screen.first]            # one model; a class it gets right less often than this stays whole
model = { name = "builtin/scout" }
images = 10
keep_below = 0.5

[screen.hard]             # several models; of classes below this, the samples they get wrong
models = [{ name = "builtin/scout" }]
keep_below = 0.4
classes = "all"           # below it by all of the models, or by any
samples = "all"           # wrong by all of them, or by any

[leakage]
copy_from = 0.5           # from this score on a found picture is a copy,
doubt_from = 0.3          # from this one on it may be: the candidate is dropped
sources = []              # hosts (with a path, if you like) of the source datasets

[audit]
annotators = 2            # so many must agree; else it is adjudicated
"""
"""What `curate new` writes."""
