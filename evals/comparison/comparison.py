"""Runs compared with the first of them, or each with each: first what they were made with, then the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from pydantic import BaseModel

from fieldmark.counting import counted
from fieldmark.errors import UsageError
from fieldmark.evals.comparison.differences import CLOSED_BOOK, Difference, consequences, differences
from fieldmark.evals.comparison.gain import gain_of
from fieldmark.evals.comparison.memory import MemoryEffect, effect_between
from fieldmark.evals.comparison.paired import Paired, Side, compare
from fieldmark.evals.comparison.significance import holm
from fieldmark.evals.comparison.twin import Twin, twin
from fieldmark.rundir import RunDir


class Versus(BaseModel):
    """One run against another: `differences` of how they were made, `paired` of what came out.

    `follows` are the aspects that differ only because another one does. `gain` names the tools or skills that
    are the only difference. `twin`: one of the two is the closed book of the other's model. `memory`: what it
    did to the answers, where two runs are compared of which one has a memory.
    """

    differences: list[Difference]
    follows: list[str]
    gain: str | None
    paired: Paired
    twin: Twin | None
    memory: MemoryEffect | None = None
    warnings: list[str]


class Comparison(BaseModel):
    """`baseline` is the first run's name, None where each run is compared with each.

    `partial` names the runs that have tasks still to run.
    """

    baseline: str | None
    partial: list[str]
    seed: int
    versus: list[Versus]


def comparison(runs: Sequence[RunDir], *, seed: int = 0, all_pairs: bool = False) -> Comparison:
    """Holm-corrected over all comparisons made. UsageError: under two runs, or one twice."""
    if len(runs) < 2:
        raise UsageError("one run alone compares with nothing: name two or more run folders")
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise UsageError("the same run folder is named twice: name each once")
    sides = [Side(run) for run in runs]
    made = compare_sides(sides, seed=seed, all_pairs=all_pairs)
    for versus, (a, b) in zip(made.versus, _pairs(sides, all_pairs), strict=True):
        versus.memory = effect_between(a, b)
    return made


def compare_sides(sides: Sequence[Side], *, seed: int = 0, all_pairs: bool = False) -> Comparison:
    """Every later side against the first, or each with each; none where there is but one."""
    made = [_versus(one, other, seed) for one, other in _pairs(sides, all_pairs)]
    for versus, p in zip(made, holm([versus.paired.p_exact for versus in made]), strict=True):
        versus.paired.p_holm = p
    partial = [side.name for side in sides if side.partial]
    baseline = None if all_pairs else sides[0].name
    return Comparison(baseline=baseline, partial=partial, seed=seed, versus=made)


def _pairs(sides: Sequence[Side], all_pairs: bool) -> list[tuple[Side, Side]]:
    return list(combinations(sides, 2)) if all_pairs else [(sides[0], other) for other in sides[1:]]


def _versus(a: Side, b: Side, seed: int) -> Versus:
    was, now = a.run.config(), b.run.config()
    found, paired = differences(was, now), compare(a, b, seed=seed)
    follows = consequences(found, was, now)
    chosen = [each.aspect for each in found if each.aspect not in follows]
    return Versus(
        differences=found, follows=follows, gain=gain_of(found, was, now), paired=paired, twin=twin(a, b),
        warnings=[*_several(chosen), *_live(a, b), *_left_out(paired)],
    )  # fmt: skip


def _several(chosen: list[str]) -> list[str]:
    named = ", ".join(chosen)
    told = f"more than one thing differs ({named}): the difference cannot be laid to one of them"
    return [told] if len(chosen) > 1 else []


def _live(a: Side, b: Side) -> list[str]:
    if CLOSED_BOOK in (a.run.config().get("agent"), b.run.config().get("agent")):
        return []  # it opens no page
    live = [side.name for side in (a, b) if _mode(side.run.config()) in ("live", "record")]
    told = f"the web was live in {' and '.join(live)}: no snapshot says that both saw the same pages"
    return [told] if len(live) == 2 else []


def _mode(config: dict[str, Any]) -> Any:
    web = config.get("web")
    return web.get("mode") if isinstance(web, dict) else None


def _left_out(paired: Paired) -> list[str]:
    warnings = []
    if not paired.table.n:
        warnings.append("no task is done in both runs: there is nothing to compare")
    if paired.unpaired:
        count = len({task for group in paired.unpaired for task in group.ids})
        warnings.append(f"{counted(count, 'task is', 'tasks are')} not paired and left out")
    return warnings
