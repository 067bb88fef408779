"""Games played in this process, without a model or a container."""

from __future__ import annotations

from collections.abc import Iterable

from fieldmark.evals.amigo.episode import Episode, ImageSet
from fieldmark.evals.amigo.game import Game, Message, Over
from fieldmark.evals.amigo.players import LabelPlayer
from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.amigo.settings import GameSettings


def simulate(
    episodes: Iterable[Episode],
    images: ImageSet,
    player: type[LabelPlayer],
    settings: GameSettings,
    seed: int = 0,
) -> list[GameRecord]:
    """One game an episode, by labels and lexicon. The same seed plays the same games."""
    return [_played(each, images, player, settings, seed) for each in episodes]


def _played(
    episode: Episode, images: ImageSet, player: type[LabelPlayer], settings: GameSettings, seed: int
) -> GameRecord:
    game = Game.of(episode, images, settings)
    plays = player(images.labels(episode), images.lexicon, f"{seed}/{episode.id}").play
    said: Message | Over = game.start()
    while isinstance(said, Message):
        said = game.hear(plays(said))
    return game.record
