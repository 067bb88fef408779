"""All figures of a set of games, together and for each τ."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from fieldmark.evals.amigo.compliance import Compliance, compliance
from fieldmark.evals.amigo.process import Process, process
from fieldmark.evals.amigo.robustness import Robustness, robustness
from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.amigo.scores import Accuracy, Rounds, accuracy, rounds


class Figures(BaseModel):
    """Of the games at one τ, or of all (`tau` None). `robustness` is None where no noise was asked for."""

    tau: float | None
    accuracy: Accuracy
    rounds: dict[str, Rounds]
    compliance: Compliance
    process: Process
    robustness: Robustness | None


def figures(records: Sequence[GameRecord]) -> list[Figures]:
    """For each τ in order, then for all games."""
    taus = sorted({record.tau for record in records if record.tau is not None})
    groups = [(tau, [record for record in records if record.tau == tau]) for tau in taus]
    return [_figures(tau, group) for tau, group in [*groups, (None, [*records])]]


def _figures(tau: float | None, records: list[GameRecord]) -> Figures:
    noise = any(record.noise != "none" for record in records)
    return Figures(
        tau=tau, accuracy=accuracy(records), rounds=rounds(records), compliance=compliance(records),
        process=process(records), robustness=robustness(records) if noise else None,
    )  # fmt: skip
