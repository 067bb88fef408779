"""How often the target was found, and on what evidence: section 5 of the paper, identification and rounds.

Overall = verified + random guess + contradicted. The last is ours: correct although the target did not fit
the answers, which without noise and with one set of labels cannot happen. Intervals are Wilson's.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.amigo.rows import CORRECT, GameRecord, Outcome, OverRow
from fieldmark.evals.metrics.shares import Interval, Share, wilson


class Rate(BaseModel):
    """A share and its 95 % interval, None when n is 0."""

    share: Share
    interval: Interval | None

    @classmethod
    def of(cls, count: int, n: int) -> Rate:
        share = Share.of(count, n)
        return cls(share=share, interval=wilson(share))


class Accuracy(BaseModel):
    """Of `n` finished games; `chance` is the mean of 1/|gallery|, None without a game.

    `no_guess` is wrong too, and apart from `incorrect`, a wrong guess.
    """

    n: int
    overall: Rate
    verified: Rate
    random_guess: Rate
    contradicted: Rate
    incorrect: Rate
    no_guess: Rate
    chance: float | None


class Rounds(BaseModel):
    """Counted turns before the end, Skips included, of `n` games; None without one."""

    n: int
    mean: float | None


def finished(records: Sequence[GameRecord]) -> list[tuple[GameRecord, OverRow]]:
    return [(record, record.over) for record in records if record.over]


def accuracy(records: Sequence[GameRecord]) -> Accuracy:
    """Games that are not over count nowhere."""
    over = finished(records)
    ended = [row.outcome for _, row in over]

    def rate(*outcomes: Outcome) -> Rate:
        return Rate.of(sum(each in outcomes for each in ended), len(ended))

    return Accuracy(
        n=len(ended), overall=rate(*CORRECT), verified=rate("verified"),
        random_guess=rate("random_guess"), contradicted=rate("contradicted"),
        incorrect=rate("incorrect"), no_guess=rate("no_guess"),
        chance=fmean(1 / record.size for record, _ in over) if over else None,
    )  # fmt: skip


def rounds(records: Sequence[GameRecord]) -> dict[str, Rounds]:
    """By outcome, and of all; the paper's "incorrect" is ours with `no_guess`."""
    over = finished(records)
    kinds: tuple[Outcome, ...] = (*CORRECT, "incorrect", "no_guess")
    groups: dict[str, list[GameRecord]] = {"all": [record for record, _ in over]}
    for kind in kinds:
        groups[kind] = [record for record, row in over if row.outcome == kind]
    return {
        name: Rounds(n=len(group), mean=fmean(len(r.turns) for r in group) if group else None)
        for name, group in groups.items()
    }
