"""The settings of a run's games, and who referees them: by labels and lexicon, or a model that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fieldmark.agents.registry import is_path
from fieldmark.blobs import BlobStore
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.amigo.game import Game, Referees
from fieldmark.evals.amigo.settings import GameSettings, NoiseSettings
from fieldmark.evals.benchmarks.galleries import Galleries
from fieldmark.games.played import PlayedGame
from fieldmark.judging.model import Asked, AskedModel
from fieldmark.model_config import GameConfig
from fieldmark.staging import StagedTask

TO_REFEREE = Asked(
    "referee", "--oracle vlm or --detector llm", "--referee-model", "--referee-url", "--referee-"
)
PLAYER = "amigo_player"


@dataclass(frozen=True)
class Games:
    """The games of a run. `model` is the one that referees, None where none does."""

    galleries: Galleries
    config: GameConfig
    settings: GameSettings
    model: AskedModel | None

    def begin(self, staged: StagedTask, blobs: BlobStore) -> PlayedGame:
        """A new game of this task. The oracle looks at what the player is shown."""
        episode = self.galleries.episodes[staged.task.id]
        pictures = [blobs.path(each.blob) for each in staged.gallery]
        game = Game.of(
            episode, self.galleries.images, self.settings, self._referees(staged.task.id, pictures)
        )
        return PlayedGame(game, staged.gallery)

    def described(self) -> dict[str, Any]:
        """For run.json: how they are played and by which modules."""
        some = next(iter(self.galleries.episodes))
        return {**self.settings.model_dump(), "referees": self._referees(some, []).described}

    def _referees(self, task: str, pictures: Sequence[Path]) -> Referees:
        images = self.galleries.images
        referees = Referees.by_labels(self.galleries.episodes[task], images)
        if self.model is None:
            return referees
        from fieldmark.evals.amigo import llm_detector, vlm  # most games have labels and a lexicon

        if self.config.detector == "llm":
            detector = llm_detector.make(self.model.name, self.model.ask, images.lexicon, self.config)
            referees = replace(referees, detector=detector)
        if self.config.oracle == "vlm":
            oracle = vlm.make(self.model.name, pictures, self.model.ask, self.config)
            referees = replace(referees, oracle=oracle)
        return referees


def make_games(config: RunConfig, galleries: Galleries | None) -> Games | None:
    """None where the benchmark has no galleries. UsageError: an agent or option that does not fit it."""
    if galleries is None:
        if config.agent == PLAYER:
            raise UsageError(
                f"--agent {PLAYER} plays AMIGO: take --benchmark amigo-garments, or another agent"
            )
        if config.game:
            given = ", ".join(sorted(config.game.model_fields_set))
            raise UsageError(f"{given}: that is for AMIGO; take --benchmark amigo-garments, or leave it out")
        return None
    if config.agent != PLAYER and not is_path(config.agent):
        raise UsageError(f"--agent {config.agent} plays no games: take --agent {PLAYER}, or one of your own")
    asked = config.game or GameConfig()
    noise = NoiseSettings(kind=asked.noise, seed=config.seed)
    settings = GameSettings(batch=asked.batch, noise=noise)
    return Games(galleries, asked, settings, _model(asked))


def _model(config: GameConfig) -> AskedModel | None:
    if config.oracle == "labels" and config.detector == "lexicon":
        if config.model or config.base_url:
            raise UsageError(
                "--referee-model referees nothing: add --oracle vlm or --detector llm, or leave it out"
            )
        return None
    if not config.model:
        raise UsageError(
            "--oracle vlm and --detector llm need --referee-model, a name that --referee-url serves"
        )
    model = AskedModel.of(config.model, config, TO_REFEREE)
    model.check()
    return model
