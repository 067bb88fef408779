"""The figures of the Fine-R1 paper beside ours: means over datasets, by world; nothing is paired."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.variants import BENCHMARK, Variants, variants
from fieldmark.rundir import RunDir

World = Literal["closed", "open"]
Part = Literal["seen", "unseen", "both"]
PARTS: tuple[Part, ...] = ("seen", "unseen", "both")
MEASURES: dict[World, str] = {"closed": "closed-official", "open": "semantic (official)"}
"""World → the variant that the paper prints there: accuracy by inclusion, relative semantic similarity."""


class _System(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    closed: dict[Part, float]
    open: dict[Part, float]


class PublishedMacro(BaseModel):
    """`published_fine_r1.toml`: per cent, as the paper prints them."""

    model_config = ConfigDict(extra="forbid")

    source: str
    systems: list[_System]


class MacroRow(BaseModel):
    """A run of ours, else a system of the paper, in one world; fractions 0–1 by part, None: there is none."""

    name: str
    ours: bool
    world: World
    parts: dict[Part, float | None]


class MacroBeside(BaseModel):
    """Ours first. `warnings` say in what a run of ours is not as the paper's were."""

    benchmark: str
    source: str
    rows: list[MacroRow]
    warnings: list[str]


def published_macro() -> PublishedMacro:
    """The figures as they stand in the file."""
    text = (files("fieldmark.evals.comparison") / "published_fine_r1.toml").read_text(encoding="utf-8")
    return PublishedMacro.model_validate(tomllib.loads(text))


def macro_beside(runs: Sequence[RunDir]) -> MacroBeside:
    """The paper's figures beside those of runs over `fine-r1`, in the worlds that these have."""
    told = published_macro()
    found = [(run, variants(run, cells(run))) for run in runs]
    ours = [_ours(run, each) for run, each in found if each]
    worlds = [world for world in MEASURES if any(row.world == world for row in ours)]
    theirs = [
        MacroRow(
            name=system.name, ours=False, world=world,
            parts={part: value / 100 for part, value in getattr(system, world).items()},
        )
        for system in told.systems for world in worlds
    ]  # fmt: skip
    warnings = [f"{_name(run)}: {line}" for run, each in found for line in _warnings(run, each)]
    return MacroBeside(benchmark=BENCHMARK, source=told.source, rows=[*ours, *theirs], warnings=warnings)


def _ours(run: RunDir, found: Variants) -> MacroRow:
    world: World = "closed" if found.world == "closed" else "open"
    macros = {row.split: row.macro for row in found.rows if row.name == MEASURES[world]}
    return MacroRow(name=_name(run), ours=True, world=world, parts={part: macros.get(part) for part in PARTS})


def _warnings(run: RunDir, found: Variants | None) -> list[str]:
    config = run.config()
    if found is None:
        return ["its gold is not here"]
    protocol, image = config.get("protocol"), config.get("picture", "full")
    told = [f"{split} is without {', '.join(names)}" for split, names in found.absent.items() if names]
    if not isinstance(protocol, dict) or protocol.get("name") != BENCHMARK:
        told.append(f"not --protocol {BENCHMARK}")
    if found.options == "shuffled":
        told.append("its options are shuffled, the paper's were in the official order, gold first")
    if found.world == "open" and not any(row.name == MEASURES["open"] for row in found.rows):
        told.append("not judged with --judge-variant semantic --super-category official")
    return [*told, *([f"image {image}"] if image != "full" else [])]


def _name(run: RunDir) -> str:
    return str(run.config().get("name") or run.path.name)
