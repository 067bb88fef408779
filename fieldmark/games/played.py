"""One game of an episode, as the gateway plays it: the library's game, with pictures of the run."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.errors import ModelFault
from fieldmark.evals.amigo.game import Game, Message, Over
from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.judges.base import JudgingOver, Unjudged
from fieldmark.sandbox.gateway.game import Told
from fieldmark.trace import Picture

OVER = "The game is over."


class PlayedGame:
    """See the module's docstring. `gallery`: what models are shown of each, in the order of upload."""

    def __init__(self, game: Game, gallery: Sequence[Picture]) -> None:
        self._game = game
        self._gallery = gallery
        self.told = self._message(game.start())

    def hear(self, text: str) -> Told:
        """ModelFault: a model that referees gave nothing of use."""
        try:
            said = self._game.hear(text)
        except Unjudged as error:
            message = f"a referee of the game: {error}"[:500]
            raise ModelFault(message, kind="referee", stops_run=isinstance(error, JudgingOver)) from None
        self.told = self._over(said) if isinstance(said, Over) else self._message(said)
        return self.told

    def end(self) -> GameRecord:
        """All of the game. One that is not over was left by its player: there is no guess."""
        if self._game.record.over is None:
            self._game.leave()
        return self._game.record

    def _message(self, message: Message) -> Told:
        turns = self._game.record.turns
        broke = turns[-1].violation if turns else None
        return Told(
            message.text, "uploading" if message.uploading else "asking", len(turns),
            tuple(self._gallery[number - 1] for number in message.images), message.images,
            rule=broke.kind if broke else None, about=(broke.about or None) if broke else None,
        )  # fmt: skip

    def _over(self, over: Over) -> Told:
        return Told(OVER, "over", len(self._game.record.turns), guess=over.row.guess)
