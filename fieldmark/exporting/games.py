"""The games of a run as trajectories for offline reinforcement learning (`evals/amigo/trajectories.py`)."""

from __future__ import annotations

from pathlib import Path

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.of_run import games_of
from fieldmark.evals.amigo.trajectories import export
from fieldmark.exporting.place import new
from fieldmark.run_reader import RunReader


def export_games(run: RunReader, out: Path, *, private: bool) -> int:
    """How many steps were written. UsageError: no games, or gold was not asked for, which each step holds."""
    if not private:
        raise UsageError("--trajectories tell which pictures fit all answers, which is gold: add --private")
    games = games_of(run)
    if not games:
        raise UsageError(f"{run.path} holds no game of AMIGO, or its private part is not here")
    with new(out) as place:
        return export(place, games.values())
