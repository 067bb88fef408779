"""A study's arms compared: each by itself, each with the baseline, axis by axis, and along the orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from fieldmark.errors import UsageError
from fieldmark.evals.comparison.comparison import Comparison, compare_sides
from fieldmark.evals.comparison.differences import consequences, differences
from fieldmark.evals.comparison.effects import Effect, main_effects
from fieldmark.evals.comparison.memory import MemoryEffect, MemoryUse, memory_effect, memory_use
from fieldmark.evals.comparison.orders import OrderEffect, Orders, Quarter, order_effect, quarters
from fieldmark.evals.comparison.paired import Side
from fieldmark.evals.comparison.pooled import pooled
from fieldmark.evals.comparison.power import Detectable, detectable
from fieldmark.evals.metrics.accuracy import AccuracyRow, accuracy
from fieldmark.evals.metrics.usage import Money, UsageRow, money, usage
from fieldmark.study.folder import StudyDir

SHARED, REPEAT = 0.5, 0.7
"""What `fieldmark power` assumes of how far two runs, and two looks of one run, agree."""


class ArmFacts(BaseModel):
    """One arm over all its orders. `values`: axis → value; `differs`: how it was made unlike the baseline.

    `seconds` is the mean wall time of an episode that ended by the agent's doing.
    """

    arm: str
    values: dict[str, str]
    differs: list[str]
    orders: int
    epochs: int
    partial: bool
    accuracy: AccuracyRow
    usage: list[UsageRow]
    money: Money
    seconds: float | None


class StudyComparison(BaseModel):
    """All of a study's figures; fractions 0–1. `missing` names runs that have not begun.

    `changed`: each arm with a memory beside the one that has none and is alike in all else. `detectable`:
    the smallest improvement on the baseline that a comparison of two arms finds.
    """

    name: str
    benchmark: str
    axes: list[str]
    missing: list[str]
    arms: list[ArmFacts]
    comparison: Comparison
    effects: list[Effect]
    orders: list[OrderEffect]
    quarters: list[Quarter]
    memory: list[MemoryUse]
    changed: list[MemoryEffect]
    detectable: Detectable | None


def study_comparison(study: StudyDir, *, seed: int = 0, all_pairs: bool = False) -> StudyComparison:
    """Reads every run once. UsageError when none has begun."""
    recorded = study.recorded()
    arms: dict[str, dict[int | None, Side]] = {}
    for each, run in study.begun_runs():
        arms.setdefault(each.arm, {})[each.order] = Side(run)
    if not arms:
        raise UsageError(f"no run of {study.path} has begun: start it with `fieldmark run`")
    first = recorded.baseline if recorded.baseline in arms else next(iter(arms))
    arms = {first: arms[first], **arms}
    sides = {arm: pooled(arm, list(orders.values())) for arm, orders in arms.items()}
    begun = {each.run for each, _ in study.begun_runs()}
    ordered = any(order is not None for orders in arms.values() for order in orders)
    facts = [_facts(arm, recorded.arms[arm], arms[arm], sides) for arm in arms]
    return StudyComparison(
        name=recorded.name,
        benchmark=" ".join(recorded.benchmark.values()),
        axes=recorded.axes,
        missing=[each.run for each in recorded.runs if each.run not in begun],
        arms=facts,
        comparison=compare_sides(list(sides.values()), seed=seed, all_pairs=all_pairs),
        effects=main_effects(recorded.axes, recorded.arms, sides, seed=seed),
        orders=[found for arm in arms if (found := order_effect(arm, arms[arm], seed=seed))],
        quarters=_all_quarters(recorded.arms, arms, first, seed)
        if ordered or "memory" in recorded.axes
        else [],
        memory=[used for arm in arms if (used := memory_use(arm, arms[arm].values()))],
        changed=_changed(recorded.arms, arms),
        detectable=_detectable(facts[0]),
    )


def _facts(arm: str, values: dict[str, str], orders: Orders, sides: Mapping[str, Side]) -> ArmFacts:
    side, baseline = sides[arm], next(iter(sides.values()))
    usable = [cell for cell in side.cells if cell.record and cell.record.status != "sandbox_error"]
    seconds = [cell.record.seconds for cell in usable if cell.record]
    judging = [use for order in orders.values() for use in order.run.judge_uses()]
    return ArmFacts(
        arm=arm,
        values=values,
        differs=_differs(baseline, side),
        orders=len(orders),
        epochs=len({cell.epoch for cell in side.cells}),
        partial=side.partial,
        accuracy=accuracy(side.cells).headline,
        usage=usage(side.cells),
        money=money(side.cells, judging, side.run.config()),
        seconds=sum(seconds) / len(seconds) if seconds else None,
    )


def _differs(baseline: Side, side: Side) -> list[str]:
    """The aspects that differ and do not only follow from another one."""
    a, b = baseline.run.config(), side.run.config()
    found = differences(a, b)
    follows = consequences(found, a, b)
    return [each.aspect for each in found if each.aspect not in follows]


def _all_quarters(
    values: Mapping[str, dict[str, str]], arms: Mapping[str, Orders], first: str, seed: int
) -> list[Quarter]:
    """Each arm against its cold partner, where it has a memory, else against the baseline."""
    cold = _cold(values, arms)
    found = []
    for arm, orders in arms.items():
        against = cold.get(arm, None if arm == first else first)
        found += quarters(arm, orders, arms[against] if against else None, against=against, seed=seed)
    return found


def _changed(values: Mapping[str, dict[str, str]], arms: Mapping[str, Orders]) -> list[MemoryEffect]:
    return [
        effect
        for arm, cold in _cold(values, arms).items()
        if (effect := memory_effect(arm, arms[arm], cold, arms[cold]))
    ]


def _cold(values: Mapping[str, dict[str, str]], arms: Iterable[str]) -> dict[str, str]:
    """Arm with a memory → the arm that has none and is alike in all else, where there is one."""
    without = {_but_memory(values[arm]): arm for arm in arms if values[arm].get("memory") == "off"}
    return {
        arm: cold
        for arm in arms
        if values[arm].get("memory", "off") != "off" and (cold := without.get(_but_memory(values[arm])))
    }


def _but_memory(values: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((axis, value) for axis, value in values.items() if axis != "memory")


def _detectable(baseline: ArmFacts) -> Detectable | None:
    """From the baseline's own accuracy; an order is one more look at a task, like an epoch."""
    strict = baseline.accuracy.strict
    if strict.fraction is None:
        return None
    return detectable(
        strict.n, epochs=baseline.orders * baseline.epochs, baseline=strict.fraction, shared=SHARED,
        repeat=REPEAT,
    )  # fmt: skip
