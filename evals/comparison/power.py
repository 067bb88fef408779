"""What a paired comparison could find, before it is paid for: the minimum detectable effect.

Two runs, `tasks` tasks, `epochs` looks at each; the second is better by `effect` (a difference of strict
accuracies). With verdicts that are right with p1 and p2 = p1 + effect, the difference of one task's means
over its epochs has

    variance = s1 + s2 - 2 c p1 (1 - p2) - (1 - 1/epochs) (1 - w) (s1 + s2)        s = p (1 - p)

c (`shared`) says how far the runs agree on a task: 0 by chance alone, 1 the better run has right all that
the other has; for equally good runs it is the correlation of their verdicts. w (`repeat`) is the correlation
of one run's verdicts on a task in two epochs: what epochs can average out is 1 - w. The effect found with
probability `power` in a two-sided test at `alpha` solves

    effect sqrt(tasks) = z(1 - alpha/2) sqrt(variance + effect²) + z(power) sqrt(variance)

which for one epoch is the sample size formula of McNemar's test (Connor 1987, Biometrics 43:207), since
variance + effect² is then the share of tasks that flip.
"""

from __future__ import annotations

from math import sqrt

from pydantic import BaseModel


class Detectable(BaseModel):
    """All fractions 0–1. `effect` is None when not even the step to 1 would be found with that power.

    `flips` is the share of tasks expected to flip at that effect, in one epoch.
    """

    tasks: int
    epochs: int
    baseline: float
    shared: float
    repeat: float
    alpha: float
    power: float
    effect: float | None
    flips: float | None


def detectable(
    tasks: int,
    *,
    epochs: int = 1,
    baseline: float,
    shared: float,
    repeat: float,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Detectable:
    """The smallest improvement on `baseline` that is found with probability `power`."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    z_alpha, z_power = float(norm.ppf(1 - alpha / 2)), float(norm.ppf(power))

    def surplus(effect: float) -> float:
        spread = max(0.0, variance(baseline, effect, epochs, shared, repeat))
        return effect * sqrt(tasks) - z_alpha * sqrt(spread + effect**2) - z_power * sqrt(spread)

    most = 1 - baseline
    found = float(brentq(surplus, 1e-9, most)) if surplus(most) > 0 else None
    return Detectable(
        tasks=tasks, epochs=epochs, baseline=baseline, shared=shared, repeat=repeat, alpha=alpha, power=power,
        effect=found,
        flips=None if found is None else variance(baseline, found, 1, shared, repeat) + found**2,
    )  # fmt: skip


def variance(baseline: float, effect: float, epochs: int, shared: float, repeat: float) -> float:
    """Of the difference of one task's means."""
    p1, p2 = baseline, baseline + effect
    s1, s2 = p1 * (1 - p1), p2 * (1 - p2)
    return s1 + s2 - 2 * shared * p1 * (1 - p2) - (1 - 1 / epochs) * (1 - repeat) * (s1 + s2)
