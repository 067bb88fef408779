"""What a person's sample says of a judge: how often its `correct` is right, and the accuracy that follows.

The sample is drawn from all verdicts, so that what the judge missed is found too. Accuracy is put together
from two strata, what the judge called correct and what it did not: each has the share that the person found
correct, weighted by its size in the run. Episodes without an answer are not correct and are not sampled.
Intervals are 95 %: Wilson's for a share, and for the sum those put together by MOVER (Zou & Donner 2008,
Statistics in Medicine 27:1693), as if the sample were drawn from a large number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import sqrt

from pydantic import BaseModel

from fieldmark.evals.metrics.doubts import Doubt
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Interval, Share, wilson


class AuditFacts(BaseModel):
    """`precision`: of the sampled verdicts `correct`, those that the person agrees with. `missed`: of the
    other sampled verdicts, those that the person finds correct. `unsure` answers are in neither.

    `judged` is the share of verdicts `correct` of all episodes done, `corrected` what the sample makes of it;
    None while a stratum that has episodes has no sample. `doubts`: what persons said beside the audit; they
    are in no figure, for nobody drew those answers at random.
    """

    sampled: int
    unsure: int
    precision: Share
    precision_interval: Interval | None
    missed: Share
    judged: Share
    corrected: float | None
    corrected_interval: Interval | None
    doubts: list[Doubt] = []


def audit(
    cells: Sequence[Cell], right: Collection[tuple[str, int]], wrong: Collection[tuple[str, int]], unsure: int
) -> AuditFacts:
    """`right` and `wrong` are the keys of the episodes whose answer the person found so."""
    done = [cell for cell in cells if cell.outcome in DONE]
    answered = [cell for cell in done if cell.outcome != "no_answer"]
    called = {(cell.id, cell.epoch) for cell in answered if cell.outcome == "correct"}
    others = {(cell.id, cell.epoch) for cell in answered} - called
    precision, missed = (
        Share.of(len(stratum & {*right}), len(stratum & {*right, *wrong})) for stratum in (called, others)
    )
    strata = [(len(called), precision), (len(others), missed)]
    corrected = _sum(strata, len(done)) if done else None
    return AuditFacts(
        sampled=precision.n + missed.n + unsure,
        unsure=unsure,
        precision=precision,
        precision_interval=wilson(precision),
        missed=missed,
        judged=Share.of(len(called), len(done)),
        corrected=corrected[0] if corrected else None,
        corrected_interval=corrected[1] if corrected else None,
    )


def _sum(strata: list[tuple[int, Share]], of: int) -> tuple[float, Interval] | None:
    """The weighted sum of shares and its interval; None where one with weight is unknown."""
    total, below, above = 0.0, 0.0, 0.0
    for size, share in strata:
        if not size:
            continue
        around = wilson(share)
        if share.fraction is None or around is None:
            return None
        weight = size / of
        total += weight * share.fraction
        below += (weight * (share.fraction - around.low)) ** 2
        above += (weight * (around.high - share.fraction)) ** 2
    return total, Interval(low=max(0.0, total - sqrt(below)), high=min(1.0, total + sqrt(above)))
