"""Study: arms that differ in named options, each carried out in one or several orders of the tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fieldmark.config import RunConfig
from fieldmark.study.matrix import Arm


@dataclass(frozen=True)
class StudyRun:
    """One arm in one order: an ordinary run. `order` is None where the study has no orders."""

    name: str
    arm: Arm
    order: int | None
    config: RunConfig


@dataclass(frozen=True)
class Study:
    """A study as it is asked for. `baseline` names the arm that the others are compared with."""

    path: Path
    arms: list[Arm]
    baseline: str
    runs: list[StudyRun]

    @property
    def axes(self) -> list[str]:
        """The options in which the arms differ, the same for all of them."""
        return list(self.arms[0].options)
