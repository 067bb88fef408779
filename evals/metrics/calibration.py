"""Whether the agent's confidence says how often it is right: the reliability table and its summary.

ECE, the expected calibration error (Naeini et al. 2015, AAAI): over ten equal bins of confidence, the mean
distance between confidence and accuracy, weighted by episodes. Brier: the mean squared distance between
confidence and being correct (0 or 1).
"""

from __future__ import annotations

from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Interval, Share, wilson

BINS = 10


class Bin(BaseModel):
    """Episodes with a confidence from `low` up to `high`, the last bin with 1; `interval` is Wilson's."""

    low: float
    high: float
    confidence: float
    correct: Share
    interval: Interval | None


class Calibration(BaseModel):
    """Over the `told` episodes, of those `done`, that told a confidence in 0–1. None where told is 0."""

    told: int
    done: int
    ece: float | None
    brier: float | None
    bins: list[Bin]


def calibration(cells: list[Cell]) -> Calibration:
    """Only bins that hold an episode are listed."""
    done = [cell for cell in cells if cell.outcome in DONE]
    told = [
        (cell.record.confidence, cell.outcome in CORRECT)
        for cell in done
        if cell.record and cell.record.confidence is not None and 0 <= cell.record.confidence <= 1
    ]
    groups: dict[int, list[tuple[float, bool]]] = {}
    for confidence, hit in told:
        groups.setdefault(min(int(confidence * BINS), BINS - 1), []).append((confidence, hit))
    bins = [_bin(place, group) for place, group in sorted(groups.items())]
    return Calibration(
        told=len(told),
        done=len(done),
        ece=sum(_distance(each) * each.correct.n for each in bins) / len(told) if told else None,
        brier=fmean((confidence - hit) ** 2 for confidence, hit in told) if told else None,
        bins=bins,
    )


def _bin(place: int, group: list[tuple[float, bool]]) -> Bin:
    correct = Share.of(sum(hit for _, hit in group), len(group))
    return Bin(
        low=place / BINS,
        high=(place + 1) / BINS,
        confidence=fmean(confidence for confidence, _ in group),
        correct=correct,
        interval=wilson(correct),
    )


def _distance(each: Bin) -> float:
    return abs(each.confidence - (each.correct.fraction or 0.0))
