"""A gallery of seven dresses, small enough to follow by hand, and games over it."""

from __future__ import annotations

from pathlib import Path

from fieldmark.evals.amigo.episode import Episode, ImageSet, LabelledImage
from fieldmark.evals.amigo.game import Game, Message, Over, Referees
from fieldmark.evals.amigo.lexicon import base_lexicon
from fieldmark.evals.amigo.rows import OverRow
from fieldmark.evals.amigo.settings import GameSettings

ROWS = {
    "1": ("v", "buttons", "none"),
    "2": ("v", "zip", "patch"),
    "3": ("v", "wrap", "none"),
    "4": ("square", "buttons", "patch"),
    "5": ("square", "zip", "none"),
    "6": ("round", "wrap", "patch"),
    "7": ("round", "buttons", "welt"),
}
V, BUTTONS, POCKETS = "Is there a V-neck?", "Does it have buttons?", "Does it have any pockets?"
UPLOADS = 1
"""Replies of the player before the end of uploading: seven dresses in batches of five."""


def dresses() -> ImageSet:
    images = {
        name: LabelledImage(
            id=name, image=f"{name}.png", attributes={"neckline": [a], "closure": [b], "pockets": [c]}
        )
        for name, (a, b, c) in ROWS.items()
    }
    return ImageSet(Path(), images, base_lexicon())


def episode(target: str = "1") -> Episode:
    return Episode(id=f"dress-{target}", tau=0.5, gallery=[*ROWS], target=target)


def begun(target: str = "1", settings: GameSettings | None = None, referees: Referees | None = None) -> Game:
    """A game after its uploading."""
    game = Game.of(episode(target), dresses(), settings or GameSettings(), referees)
    game.start()
    for _ in range(UPLOADS):
        game.hear("I see.")
    return game


def reply(game: Game, text: str) -> str:
    said = game.hear(text)
    assert isinstance(said, Message)
    return said.text


def end(game: Game, text: str) -> OverRow:
    said = game.hear(text)
    assert isinstance(said, Over)
    return said.row


def guess(number: int) -> str:
    return f"My guess of your favorite dress: #{number}"
