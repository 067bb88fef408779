"""How a game is played. What the paper does not publish is a setting here, and stands in the run's record."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

NoiseKind = Literal["none", "flip", "unsure"]


class NoiseSettings(BaseModel):
    """One false answer a game: `flip`, a Yes↔No; `unsure`, an Unsure that becomes Yes or No.

    It is the k-th answer that it can happen to, k drawn from 1 to `within` (`flip`) or the first (`unsure`):
    the paper says one, not which.
    """

    model_config = ConfigDict(extra="forbid")

    kind: NoiseKind = "none"
    seed: int = 0
    within: int = Field(default=5, ge=1)


class GameSettings(BaseModel):
    """`batch`: images an upload; `turns`: questions, Skips included; `tell_budget`: the prompt names them.

    `guess_after_budget`: the reply to the last answer may still be a guess. `recheck`: while no image fits
    all answers, a question that was answered before may be asked again, and its later answer counts.
    """

    model_config = ConfigDict(extra="forbid")

    batch: int = Field(default=5, ge=1)
    turns: int = Field(default=20, ge=1)
    tell_budget: bool = False
    guess_after_budget: bool = True
    recheck: bool = True
    noise: NoiseSettings = Field(default_factory=NoiseSettings)
