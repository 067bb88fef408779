"""Whether players keep the rules: Skips, outputs before the end of uploading, guesses on too little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.amigo.scores import Rate, finished
from fieldmark.evals.metrics.shares import Share


class Skips(BaseModel):
    """`turns`: of all turns; `mean`: of each game's own rate, the paper's average, None without a turn."""

    turns: Share
    mean: float | None


class Compliance(BaseModel):
    """`by_rule`: share of all turns by kind of violation. `early`: of all guesses, those made while several
    images fitted. `premature_games`: of all games, those with a question or guess before the end of
    uploading; `premature_replies`: of all replies before it; `echoes`: those that repeat the signal instead.
    The paper's premature rate is one of the two: it does not say which.
    """

    skips: Skips
    by_rule: dict[str, Share]
    by_outcome: dict[str, Skips]
    early: Rate
    premature_games: Rate
    premature_replies: Rate
    echoes: int


def compliance(records: Sequence[GameRecord]) -> Compliance:
    over = finished(records)
    turns = [turn for record, _ in over for turn in record.turns]
    broken = Counter(turn.violation.kind for turn in turns if turn.violation)
    guesses = [row for _, row in over if row.guess is not None]
    uploads = [upload for record, _ in over for upload in record.uploads]
    premature = [record for record, _ in over if any(each.premature for each in record.uploads)]
    return Compliance(
        skips=skips([record for record, _ in over]),
        by_rule={str(kind): Share.of(count, len(turns)) for kind, count in sorted(broken.items())},
        by_outcome={
            name: skips([record for record, row in over if row.outcome == name])
            for name in sorted({row.outcome for _, row in over})
        },
        early=Rate.of(sum(row.early for row in guesses), len(guesses)),
        premature_games=Rate.of(len(premature), len(over)),
        premature_replies=Rate.of(sum(each.premature for each in uploads), len(uploads)),
        echoes=sum(each.heard == "echo" for each in uploads),
    )  # fmt: skip


def skips(records: Sequence[GameRecord]) -> Skips:
    skipped = [sum(not turn.valid for turn in record.turns) for record in records]
    rates = [
        count / len(record.turns) for count, record in zip(skipped, records, strict=True) if record.turns
    ]
    turns = sum(len(record.turns) for record in records)
    return Skips(turns=Share.of(sum(skipped), turns), mean=fmean(rates) if rates else None)
