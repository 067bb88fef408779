"""Players without a model, for simulations and as baselines: they know the labels of the whole gallery, and
not the target. They are no agents: what they show is the game, not how anything sees.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod

from fieldmark.evals.amigo import information
from fieldmark.evals.amigo.answering import LabelAnswerer
from fieldmark.evals.amigo.constraint import Answer, Constraint
from fieldmark.evals.amigo.game import Message
from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.verification import Evidence, Verification, positions

_ANSWERS: dict[str, Answer] = {"Yes": "Yes", "No": "No", "Unsure": "Unsure"}


class LabelPlayer(ABC):
    """Keeps what it was told; guesses when one image is left, or when it knows no question to ask.

    When no image is left it asks its questions again, the oldest first (rule 8), and then guesses by chance.
    """

    def __init__(self, labels: list[dict[str, list[str]]], lexicon: Lexicon, seed: str = "0") -> None:
        self.random = random.Random(seed)
        self.lexicon = lexicon
        self.tests = Verification(LabelAnswerer(labels), len(labels))
        self.questions = information.askable(labels, lexicon)
        self.evidence: list[Evidence] = []
        self.asked: set[str] = set()
        self._again: list[Constraint] = []
        self._last: Constraint | None = None

    def play(self, message: Message) -> str:
        """The text that follows on a message of the game."""
        if message.uploading:
            return "Understood."
        self._take(message.text)
        left = self.tests.feasible(self.evidence)
        chosen = self.choose(left) if left.bit_count() > 1 else None
        if not left:
            chosen = self._once_more()
        if chosen is None:
            guess = self.random.choice(positions(left or self.tests.all))
            return f"My guess of your favorite {self.lexicon.noun}: #{guess}"
        self.asked.add(chosen.type)
        self._last = chosen
        return self.lexicon.question(chosen)

    @abstractmethod
    def choose(self, left: int) -> Constraint | None:
        """The next question, given the images that fit, as bits; None: guess."""

    def _take(self, answer: str) -> None:
        if self._last and answer in _ANSWERS:
            self.evidence.append(Evidence("", self._last, _ANSWERS[answer]))
        self._last = None

    def _once_more(self) -> Constraint | None:
        if not self._again:
            self._again = [each.constraint for each in self.evidence if each.constraint]
        elif len(self._again) == 1:
            return None
        else:
            self._again = self._again[1:]
        return self._again[0] if self._again else None


class RandomAsker(LabelPlayer):
    """Any question of a type that it has not asked about, whether it can tell the images apart or not."""

    def choose(self, left: int) -> Constraint | None:
        open_ = [each for each in self.questions if each.type not in self.asked]
        return self.random.choice(open_) if open_ else None


class InformationAsker(LabelPlayer):
    """The question that gains the most bits, of a type that it has not asked about."""

    def choose(self, left: int) -> Constraint | None:
        return information.best(self.tests, left, self.questions, self.asked)[1]


PLAYERS: dict[str, type[LabelPlayer]] = {"random": RandomAsker, "information": InformationAsker}
