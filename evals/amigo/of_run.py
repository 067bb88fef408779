"""The games of a run folder: those whose end is the agent's doing, in the order of their episodes."""

from __future__ import annotations

import contextlib

from pydantic import ValidationError

from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.records import AGENT_STATUSES
from fieldmark.run_reader import RunReader


def games_of(run: RunReader) -> dict[tuple[str, int], GameRecord]:
    """By id and epoch; empty where the private part is not there, or the run is none of games."""
    stored, found = run.games(), {}
    for record in run.episodes():
        if record.status in AGENT_STATUSES and record.key in stored:
            with contextlib.suppress(ValidationError):
                found[record.key] = GameRecord.model_validate(stored[record.key].game)
    return found
