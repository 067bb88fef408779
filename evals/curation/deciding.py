"""Decisions written one after another, and what of them is new, changed or flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Step, Verdict


class Said(NamedTuple):
    """What a step says of a candidate."""

    candidate: str
    verdict: Verdict
    why: str
    evidence: dict[str, Any]


@dataclass
class Told:
    """What a step did: how many said keep, drop or open; and what of it was not so before.

    `flips`: (candidate, verdict before, verdict now, why) of each that has another verdict.
    """

    step: Step
    counts: Counter[str] = field(default_factory=Counter)
    new: int = 0
    flips: list[tuple[str, str, str, str]] = field(default_factory=list)


def decide_one(project: Project, told: Told, said: Said) -> None:
    """Write one, on disk when this returns; `told` learns what is new or flipped by it."""
    was = project.decision(told.step, said.candidate)
    outcome = project.decide(told.step, said.candidate, said.verdict, said.why, evidence=said.evidence)
    told.counts[said.verdict] += 1
    told.new += outcome == "new"
    if outcome == "flipped" and was:
        told.flips.append((said.candidate, was.verdict, said.verdict, said.why))


def decide_all(project: Project, step: Step, said: Iterable[Said], told: Told | None = None) -> Told:
    """Write them in one transaction, and that the step went through; a second time nothing is written.
    `told`: what was decided one by one before; the counts are those of now.
    """
    told = told or Told(step)
    told.counts.clear()
    with project.writing():
        for each in said:
            decide_one(project, told, each)
        project.finish_step(step, {key: told.counts[key] for key in ("keep", "drop", "open")})
    return told
