"""Several votes on one answer: the label that most of them have; a tie for the most votes is `uncertain`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from fieldmark.evals.judges.base import Judgement


def decide(votes: Sequence[Judgement]) -> Judgement:
    """The same judgement whatever the order of the votes, but for its reason, that of an agreeing vote.

    The score is the mean of the votes for the label; a tie has 0. It is finer where most of them say so.
    """
    if len(votes) == 1:
        return votes[0]
    counts = Counter(vote.label for vote in votes)
    most = max(counts.values())
    repaired, truncated = any(vote.repaired for vote in votes), any(vote.truncated for vote in votes)
    first = [label for label, count in counts.items() if count == most]
    if len(first) > 1:
        tie = Judgement.of("uncertain", f"{most} votes each for {', '.join(sorted(first))}")
        return replace(tie, repaired=repaired, truncated=truncated, votes=dict(counts))
    agreeing = [vote for vote in votes if vote.label == first[0]]
    score = fmean(vote.score for vote in agreeing)
    finer = sum(vote.finer for vote in agreeing) * 2 > len(agreeing)
    return replace(
        agreeing[0], score=score, finer=finer, repaired=repaired, truncated=truncated, votes=dict(counts)
    )
