"""Runs compared with the first of them: first what they were made with, then the tasks, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from fieldmark.errors import UsageError
from fieldmark.evals.comparison.differences import Difference, differences
from fieldmark.evals.comparison.paired import Paired, Side, compare
from fieldmark.evals.comparison.significance import holm
from fieldmark.rundir import RunDir


class Versus(BaseModel):
    """A later run against the first: `differences` of how they were made, `paired` of what came out."""

    differences: list[Difference]
    paired: Paired
    warnings: list[str]


class Comparison(BaseModel):
    """`baseline` is the first run's name; `partial` names the runs that have tasks still to run."""

    baseline: str
    partial: list[str]
    seed: int
    versus: list[Versus]


def comparison(runs: Sequence[RunDir], *, seed: int = 0) -> Comparison:
    """Every later run against the first, Holm-corrected over all. UsageError: under two, or one twice."""
    if len(runs) < 2:
        raise UsageError("one run alone compares with nothing: name two or more run folders")
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise UsageError("the same run folder is named twice: name each once")
    return compare_sides([Side(run) for run in runs], seed=seed)


def compare_sides(sides: Sequence[Side], *, seed: int = 0) -> Comparison:
    """Every later side against the first; none where there is but one."""
    first, *others = sides
    made = [_versus(first, other, seed) for other in others]
    for versus, p in zip(made, holm([versus.paired.p_exact for versus in made]), strict=True):
        versus.paired.p_holm = p
    partial = [side.name for side in (first, *others) if side.partial]
    return Comparison(baseline=first.name, partial=partial, seed=seed, versus=made)


def _versus(a: Side, b: Side, seed: int) -> Versus:
    found, paired = differences(a.run.config(), b.run.config()), compare(a, b, seed=seed)
    warnings = []
    if len(found) > 1:
        named = ", ".join(each.aspect for each in found)
        warnings.append(
            f"more than one thing differs ({named}): the difference cannot be laid to one of them"
        )
    if not paired.table.n:
        warnings.append("no task is done in both runs: there is nothing to compare")
    if paired.unpaired:
        count = len({task for group in paired.unpaired for task in group.ids})
        warnings.append(f"{count} tasks are not paired and left out")
    return Versus(differences=found, paired=paired, warnings=warnings)
