"""Main effects: what one axis of a study does, averaged over the values of all its other axes.

With levels a and b of an axis, a task's score at a level is the mean over the arms that have it. Only arms
that have a partner count: one with the other level and everything else the same. The difference is paired by
task and its interval resampled by target, as between two runs. Where axes interact (a skill helps only
without memory) the mean hides it: the arms themselves, pair by pair, show that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from fieldmark.evals.comparison.paired import Side, compare
from fieldmark.evals.comparison.pooled import pooled
from fieldmark.evals.metrics.shares import Interval


class Effect(BaseModel):
    """`value` against `base` of an axis: strict accuracy, over `pairs` of arms and `tasks` done in all."""

    axis: str
    base: str
    value: str
    pairs: int
    tasks: int
    difference: float | None
    interval: Interval | None


def main_effects(
    axes: Sequence[str], values: Mapping[str, Mapping[str, str]], sides: Mapping[str, Side], *, seed: int = 0
) -> list[Effect]:
    """`values`: arm → axis → value, `sides`: arm → its side. With one axis there are none."""
    if len(axes) < 2:
        return []
    found = []
    for axis in axes:
        base, *others = dict.fromkeys(values[arm][axis] for arm in sides)
        made = (_effect(axis, base, other, values, sides, seed) for other in others)
        found += [effect for effect in made if effect]
    return found


def _effect(
    axis: str,
    base: str,
    other: str,
    values: Mapping[str, Mapping[str, str]],
    sides: Mapping[str, Side],
    seed: int,
) -> Effect | None:
    contexts = [
        {_context(values[arm], axis): side for arm, side in sides.items() if values[arm][axis] == level}
        for level in (base, other)
    ]
    shared = [context for context in contexts[0] if context in contexts[1]]
    if not shared:
        return None
    a, b = (pooled(axis, [level[context] for context in shared]) for level in contexts)
    paired = compare(a, b, seed=seed)
    return Effect(
        axis=axis, base=base, value=other, pairs=len(shared), tasks=paired.table.n,
        difference=paired.difference, interval=paired.interval,
    )  # fmt: skip


def _context(values: Mapping[str, str], axis: str) -> tuple[tuple[str, str], ...]:
    return tuple((other, value) for other, value in values.items() if other != axis)
