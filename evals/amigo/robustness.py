"""What one false answer did: accuracy of the games that had one, and what followed a contradiction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from fieldmark.evals.amigo.rows import GameRecord, OverRow
from fieldmark.evals.amigo.scores import Accuracy, Rate, accuracy, finished
from fieldmark.evals.metrics.shares import Share

Followed = Literal["verified", "guessed", "ran_out"]


class Robustness(BaseModel):
    """`noisy`: games in which an answer was false, of those that were to have one. `contradictions`: games in
    which at some point no image fitted all answers, of the noisy; `followed`: how they ended; `resolved`: in
    which some image fitted again.
    """

    noisy: Share
    accuracy: Accuracy
    contradictions: Rate
    followed: dict[Followed, Share]
    resolved: Share


def robustness(records: Sequence[GameRecord]) -> Robustness:
    meant = [record for record, _ in finished(records) if record.noise != "none"]
    noisy = [record for record in meant if any(turn.noise for turn in record.turns)]
    empty = [pair for pair in finished(noisy) if any(turn.contradiction for turn in pair[0].turns)]
    ends = [_followed(row) for _, row in empty]
    kinds: tuple[Followed, ...] = ("verified", "guessed", "ran_out")
    return Robustness(
        noisy=Share.of(len(noisy), len(meant)),
        accuracy=accuracy(noisy),
        contradictions=Rate.of(len(empty), len(noisy)),
        followed={kind: Share.of(ends.count(kind), len(ends)) for kind in kinds},
        resolved=Share.of(sum(bool(row.feasible) for _, row in empty), len(empty)),
    )


def _followed(row: OverRow) -> Followed:
    if row.outcome == "verified":
        return "verified"
    return "ran_out" if row.guess is None else "guessed"
