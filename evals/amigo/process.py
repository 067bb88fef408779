"""How games went: what questions eliminated, and how they compare with the best question at that point."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.metrics.shares import Share


class Process(BaseModel):
    """Over valid turns. `eliminated`: images a turn; `stalls`: turns that eliminated none; `redundant`: turns
    whose question could not, all images that were left having the same answer. `gain`, `best_gain`: expected
    bits of the question asked and of the best one, a turn; None without a valid turn.
    """

    turns: int
    eliminated: float | None
    stalls: Share
    redundant: Share
    gain: float | None
    best_gain: float | None


def process(records: Sequence[GameRecord]) -> Process:
    turns = [turn for record in records for turn in record.turns if turn.valid]
    return Process(
        turns=len(turns),
        eliminated=fmean(turn.eliminated for turn in turns) if turns else None,
        stalls=Share.of(sum(not turn.eliminated for turn in turns), len(turns)),
        redundant=Share.of(sum(not turn.gain for turn in turns), len(turns)),
        gain=fmean(turn.gain or 0.0 for turn in turns) if turns else None,
        best_gain=fmean(turn.best_gain or 0.0 for turn in turns) if turns else None,
    )
