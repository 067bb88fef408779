"""How sure the judge was: how far the votes of a panel agree, how many of its replies were faulty."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.shares import Share


class JudgingFacts(BaseModel):
    """Of the `judged` answers: those read from a `repaired` or a `truncated` reply, those `voted` on.

    `agreement` is the mean, over the answers voted on, of the share of votes for the most frequent label;
    None without a panel. `tied` had no label with the most votes: they are `uncertain`. `finer`: of
    the correct ones, those more specific than the reference.
    """

    judged: int
    repaired: int
    truncated: int
    voted: int
    agreement: float | None
    unanimous: Share
    tied: int
    finer: Share


def judging(cells: Sequence[Cell]) -> JudgingFacts:
    """Only answers count, not the episodes that ended without one."""
    verdicts = [
        cell.verdict for cell in cells if cell.verdict and cell.record and cell.record.status == "answered"
    ]
    right = [verdict for verdict in verdicts if verdict.label == "correct"]
    panels = [sorted(verdict.votes.values()) for verdict in verdicts if verdict.votes]
    return JudgingFacts(
        judged=len(verdicts),
        repaired=sum(verdict.repaired for verdict in verdicts),
        truncated=sum(verdict.truncated for verdict in verdicts),
        voted=len(panels),
        agreement=fmean(votes[-1] / sum(votes) for votes in panels) if panels else None,
        unanimous=Share.of(sum(len(votes) == 1 for votes in panels), len(panels)),
        tied=sum(votes[-2:] == [votes[-1]] * 2 for votes in panels),
        finer=Share.of(sum(verdict.finer for verdict in right), len(right)),
    )
