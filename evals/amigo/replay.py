"""The dialogues of the paper's figures 13 to 16, played again, and a detector beside the paper's Skips.

Played again, the paper's replies are given: its counts and outcomes must come out. Beside it, a detector is
asked about each turn after the turns that the paper answered. No consistent detector can agree throughout:
the figures answer several hemlines of one dress.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field

from fieldmark.evals.amigo import messages
from fieldmark.evals.amigo.answering import LabelAnswerer
from fieldmark.evals.amigo.constraint import Answer, Constraint
from fieldmark.evals.amigo.detector import Detector, Past
from fieldmark.evals.amigo.episode import Episode
from fieldmark.evals.amigo.game import Game, Referees
from fieldmark.evals.amigo.lexicon import Lexicon, base_lexicon
from fieldmark.evals.amigo.rows import GameRecord, Outcome, Violation, ViolationKind
from fieldmark.evals.amigo.settings import GameSettings
from fieldmark.evals.amigo.verification import Verification
from fieldmark.evals.asking.request import read_prompt


class PrintedTurn(BaseModel):
    """A question, paraphrased, and what the figure prints: a `reply`, or `skip` for which reason."""

    model_config = ConfigDict(extra="forbid")

    asks: str
    reply: Answer | None = None
    skip: ViolationKind | None = None


class PrintedCounts(BaseModel):
    """What a figure says of its dialogue."""

    model_config = ConfigDict(extra="forbid")

    turns: int
    skips: int
    premature: int
    outcome: Outcome


class Dialogue(BaseModel):
    """One figure. `guess` is None where the paper's model made none."""

    model_config = ConfigDict(extra="forbid")

    figure: int
    tau: float
    size: int
    target: int
    guess: int | None = None
    printed: PrintedCounts
    uploads: list[str] = Field(default_factory=list)
    turns: list[PrintedTurn]


@dataclass
class PrintedDetector:
    """Gives the Skips of a figure, turn by turn."""

    turns: Sequence[PrintedTurn]
    name: str = "the paper"
    _asked: int = field(default=0, init=False)

    def check(self, text: str, past: Sequence[Past], recheck: bool) -> Violation | None:
        turn = self.turns[self._asked]
        self._asked += 1
        return Violation(kind=turn.skip) if turn.skip else None


@dataclass(frozen=True)
class PrintedAnswerer:
    """Gives the answers of a figure by their question."""

    answers: dict[str, Answer]
    name: str = "the paper"

    def answer(self, position: int, question: str, constraint: Constraint | None) -> Answer:
        return self.answers[question]


def dialogues() -> list[Dialogue]:
    """In the order of the figures."""
    text = (files("fieldmark.evals.amigo") / "dialogues.toml").read_text("utf-8")
    return [Dialogue.model_validate(each) for each in tomllib.loads(text)["dialogues"]]


def play(dialogue: Dialogue) -> GameRecord:
    """A figure with the paper's own replies. No image is labelled: nothing is eliminated."""
    lexicon = base_lexicon()
    gallery = [str(number) for number in range(1, dialogue.size + 1)]
    episode = Episode(
        id=f"figure-{dialogue.figure}", tau=dialogue.tau, gallery=gallery, target=str(dialogue.target)
    )
    labels: list[dict[str, list[str]]] = [{} for _ in gallery]
    tests = Verification(LabelAnswerer(labels), dialogue.size)
    answers = {turn.asks: turn.reply for turn in dialogue.turns if turn.reply}
    referees = Referees(PrintedDetector(dialogue.turns), PrintedAnswerer(answers), tests, tests)
    prompt = read_prompt("fieldmark.evals.amigo", messages.PROMPT, None)
    settings = GameSettings(guess_after_budget=False)
    game = Game(episode, lexicon, labels, settings, referees, prompt)
    game.start()
    for text in _said(dialogue):
        game.hear(text)
    return game.record


def detected(detector: Detector, lexicon: Lexicon, dialogue: Dialogue) -> list[Violation | None]:
    """What a detector says of each turn, after the turns before it that the paper answered."""
    past: list[Past] = []
    found = []
    for turn in dialogue.turns:
        found.append(detector.check(turn.asks, past, recheck=False))
        if turn.reply:
            past.append(Past(turn.asks, turn.reply, lexicon.constraint(turn.asks)))
    return found


def _said(dialogue: Dialogue) -> list[str]:
    uploads = dialogue.uploads or ["Understood."] * ((dialogue.size - 1) // GameSettings().batch)
    guess = [] if dialogue.guess is None else [f"My guess of your favorite dress: #{dialogue.guess}"]
    return [*uploads, *(turn.asks for turn in dialogue.turns), *guess]
