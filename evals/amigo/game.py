"""The game: a state machine from a player's texts to messages, after section 3.1 of the paper.

    game = Game.of(episode, images, GameSettings())
    message = game.start()
    while isinstance(message, Message):
        message = game.hear(player(message))

`game.record` is all of its state: `Game.of(…, record=saved)` goes on where it was left. A fault of a model
that detects or answers is raised before anything changes: `hear` may be called again with the same text.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.errors import UsageError
from fieldmark.evals.amigo import information, messages
from fieldmark.evals.amigo.answering import Answerer, LabelAnswerer
from fieldmark.evals.amigo.detector import Detector, LexiconDetector, Past
from fieldmark.evals.amigo.episode import Episode, ImageSet
from fieldmark.evals.amigo.hearing import Heard, hear
from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.noise import perturbed
from fieldmark.evals.amigo.rows import (
    GameRecord,
    OverRow,
    TurnRow,
    UploadKind,
    UploadRow,
    Violation,
    outcome_of,
)
from fieldmark.evals.amigo.settings import GameSettings
from fieldmark.evals.amigo.verification import Evidence, Verification, positions
from fieldmark.evals.asking.request import read_prompt


@dataclass(frozen=True)
class Message:
    """What the player is told. `images`: positions of the gallery that are shown with it; `uploading`: more
    will follow, and a question would be premature.
    """

    text: str
    images: tuple[int, ...] = ()
    uploading: bool = False


@dataclass(frozen=True)
class Over:
    """The game has ended; `row` holds gold and is not for the player."""

    row: OverRow


@dataclass(frozen=True)
class Referees:
    """The modules around the player. `labelled` tests by labels alone: what the best question is."""

    detector: Detector
    oracle: Answerer
    verification: Verification
    labelled: Verification

    @property
    def described(self) -> dict[str, str]:
        """For the record of a run: which module answered what."""
        return {
            "detector": self.detector.name,
            "oracle": self.oracle.name,
            "verification": self.verification.answerer.name,
        }

    @classmethod
    def by_labels(cls, episode: Episode, images: ImageSet) -> Referees:
        """All of them by the lexicon and the labels of the set."""
        labels = LabelAnswerer(images.labels(episode))
        tests = Verification(labels, len(episode.gallery))
        return cls(LexiconDetector(images.lexicon), labels, tests, tests)


class Game:
    """See the module's docstring."""

    def __init__(
        self, episode: Episode, lexicon: Lexicon, labels: list[dict[str, list[str]]],
        settings: GameSettings, referees: Referees, prompt: str, record: GameRecord | None = None,
    ) -> None:  # fmt: skip
        self.episode, self.settings, self.referees = episode, settings, referees
        self._lexicon, self._prompt = lexicon, prompt
        self._askable = information.askable(labels, lexicon)
        self.record = record or GameRecord(
            episode=episode.id, tau=episode.tau, size=len(episode.gallery), noise=settings.noise.kind
        )
        if self.record.episode != episode.id:
            raise UsageError(f"the record is of episode {self.record.episode!r}, not of {episode.id!r}")

    @classmethod
    def of(
        cls, episode: Episode, images: ImageSet, settings: GameSettings,
        referees: Referees | None = None, record: GameRecord | None = None,
    ) -> Game:  # fmt: skip
        """With our prompt; without `referees`, by labels."""
        prompt = read_prompt("fieldmark.evals.amigo", messages.PROMPT, None)
        chosen = referees or Referees.by_labels(episode, images)
        return cls(episode, images.lexicon, images.labels(episode), settings, chosen, prompt, record)

    def start(self) -> Message:
        """The rules and the first batch."""
        return self._batch(1)

    def hear(self, text: str) -> Message | Over:
        """What follows on a text of the player. UsageError: the game is over."""
        if self.record.over:
            raise UsageError(f"the game of {self.episode.id} is over: start another one")
        heard = hear(text)
        shown = len(self.record.uploads) + 1
        if shown < self._batches:
            self._uploading(shown, text, heard)
            return self._batch(shown + 1)
        if heard.guess is not None:
            return self._end(text, heard.guess)
        if len(self.record.turns) >= self.settings.turns:
            return self._end(text, None)
        turn = self._turn(text, heard)
        self.record.turns.append(turn)
        if len(self.record.turns) >= self.settings.turns and not self.settings.guess_after_budget:
            return self._end("", None)
        return Message(turn.reply)

    def leave(self) -> Over:
        """The player has gone without a guess. UsageError: the game is over."""
        if self.record.over:
            raise UsageError(f"the game of {self.episode.id} is over: start another one")
        return self._end("", None)

    @property
    def feasible(self) -> int:
        """The images that fit every answer so far, as bits."""
        return self.referees.verification.feasible(_evidence(self.record.turns))

    @property
    def _batches(self) -> int:
        return -(-len(self.episode.gallery) // self.settings.batch)

    def _images(self, batch: int) -> list[int]:
        first = (batch - 1) * self.settings.batch
        return [*range(first + 1, min(first + self.settings.batch, len(self.episode.gallery)) + 1)]

    def _batch(self, batch: int) -> Message:
        first = messages.opening(self._prompt, self._lexicon, self.settings)
        images = self._images(batch)
        text = messages.upload(first, batch, self._batches, images)
        return Message(text, tuple(images), uploading=batch < self._batches)

    def _uploading(self, batch: int, text: str, heard: Heard) -> None:
        """A reply before the end of uploading: a question or a guess is premature, and is not answered."""
        kind: UploadKind = "acknowledgement"
        if heard.sort in ("question", "questions"):
            kind = "premature_question"
        elif heard.sort in ("guess", "guesses"):
            kind = "premature_guess"
        elif heard.sort == "echo":
            kind = "echo"
        self.record.uploads.append(UploadRow(batch=batch, images=self._images(batch), text=text, heard=kind))

    def _turn(self, text: str, heard: Heard) -> TurnRow:
        turns, before = self.record.turns, self.feasible
        past = [Past(t.question, t.reply, t.constraint) for t in turns if t.valid]
        recheck = self.settings.recheck and not before
        violation = self.referees.detector.check(text, past, recheck)
        if violation:
            return self._skipped(text, heard, violation, before)
        constraint = self._lexicon.constraint(heard.question)
        true = self.referees.oracle.answer(self.episode.position, heard.question, constraint)
        reply, noise = perturbed(true, self.settings.noise, self.episode.id, turns)
        tests = self.referees.verification
        told = [*_evidence(turns), Evidence(heard.question, constraint, reply)]
        asked = {each.constraint.type for each in past if each.constraint}
        worth = information.gain(before, tests.split(heard.question, constraint))
        most, _ = information.best(self.referees.labelled, before, self._askable, asked)
        return TurnRow(
            turn=len(turns) + 1, text=text, question=heard.question, violation=None, reply=reply,
            constraint=constraint, before=positions(before), after=positions(tests.feasible(told)),
            noise=noise, gain=worth, best_gain=max(most, worth),
            recheck=recheck and any(each.constraint == constraint for each in past),
        )  # fmt: skip

    def _skipped(self, text: str, heard: Heard, violation: Violation, before: int) -> TurnRow:
        left = positions(before)
        return TurnRow(
            turn=len(self.record.turns) + 1, text=text, question=heard.question, violation=violation,
            reply="Skip", constraint=None, before=left, after=left,
        )  # fmt: skip

    def _end(self, text: str, guess: int | None) -> Over:
        target, left = self.episode.position, positions(self.feasible)
        outcome = outcome_of(guess, target, left)
        row = OverRow(guess=guess, text=text, target=target, feasible=left, outcome=outcome)
        self.record.over = row
        return Over(row)


def _evidence(turns: list[TurnRow]) -> list[Evidence]:
    return [Evidence(each.question, each.constraint, each.reply) for each in turns if each.reply != "Skip"]
