"""A game of AMIGO for its page: the turns as the trace tells them; with private/, what still fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from fieldmark.evals.amigo.rows import GameRecord, Noise, TurnRow
from fieldmark.evals.inspector.index import EpisodeRow, Index
from fieldmark.trace import Event, GameTurn, Picture


@dataclass(frozen=True)
class Turn:
    """A counted turn as the player had it. `left`: the places that fit all answers after it; None without the
    private part, as are `eliminated` and `noise`.
    """

    event: GameTurn
    left: frozenset[int] | None
    eliminated: int
    noise: Noise | None

    @property
    def contradiction(self) -> bool:
        return self.left is not None and not self.left


@dataclass(frozen=True)
class GamePage:
    """`gallery`: place → picture. `uploads` are the player's replies before the end of uploading. `target`
    and `outcome` are None without the private part.
    """

    gallery: dict[int, Picture]
    uploads: list[GameTurn]
    turns: list[Turn]
    over: GameTurn | None
    target: int | None
    outcome: str | None
    left: frozenset[int] | None


def game_page(index: Index, row: EpisodeRow, events: Sequence[Event]) -> GamePage | None:
    """None where the episode is no game."""
    told = [event for event in events if isinstance(event, GameTurn)]
    if not told:
        return None
    stored = index.folder.games().get(row.record.key)
    record = _record(stored.game) if stored else None
    rows = {each.turn: each for each in record.turns} if record else {}
    asked = [event for event in told if event.phase == "asking" and event.turn]
    end = record.over if record else None
    return GamePage(
        gallery={place: picture for event in told for place, picture in _shown(event)},
        uploads=[event for event in told if not event.turn and event.text],
        turns=[_turn(event, rows.get(event.turn)) for event in asked],
        over=next((event for event in told if event.phase == "over"), None),
        target=end.target if end else None,
        outcome=end.outcome if end else None,
        left=frozenset(end.feasible) if end else None,
    )


def _shown(event: GameTurn) -> list[tuple[int, Picture]]:
    return list(zip(event.numbers, event.pictures, strict=False))


def _turn(event: GameTurn, row: TurnRow | None) -> Turn:
    if row is None:
        return Turn(event, None, 0, None)
    return Turn(event, frozenset(row.after), row.eliminated, row.noise)


def _record(game: dict[str, Any]) -> GameRecord | None:
    try:
        return GameRecord.model_validate(game)
    except ValidationError:
        return None
