"""What a game leaves behind: typed rows, in the manner of a trace's events, and read alone by all figures.

Positions in a gallery are counted from 1, as the players are told. `target`, `outcome`, `feasible` and a
`noise` tell of the target: they are gold.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fieldmark.evals.amigo.constraint import Answer, Constraint, Reply

ViolationKind = Literal[
    "prohibited_attribute",
    "image_index",
    "repeated_type",
    "compound_of_confirmed",
    "several_features",
    "two_questions",
    "not_yes_no",
    "neither",
]
UploadKind = Literal["acknowledgement", "echo", "premature_question", "premature_guess"]
Outcome = Literal["verified", "random_guess", "contradicted", "incorrect", "no_guess"]
"""Of a correct guess: one image fits all answers; several fit, the target among them; the target does not."""
CORRECT: tuple[Outcome, ...] = ("verified", "random_guess", "contradicted")


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow")


class Violation(_Row):
    """Which rule a question breaks; `about`: the attribute or the words that do."""

    kind: ViolationKind
    about: str = ""


class Noise(_Row):
    """A false answer and what the oracle had said."""

    kind: Literal["flip", "unsure"]
    true: Answer


class UploadRow(_Row):
    """A batch (from 1) of `images`, and the player's reply to it, which comes before the end of uploading."""

    kind: Literal["amigo_upload"] = "amigo_upload"
    batch: int
    images: list[int]
    text: str
    heard: UploadKind

    @property
    def premature(self) -> bool:
        """A question or guess before its time; an echo of the signal is told apart."""
        return self.heard.startswith("premature")


class TurnRow(_Row):
    """A counted turn (from 1): a question and its reply; Skip exactly when there is a violation.

    `before`, `after`: the positions that fit all answers. `gain` and `best_gain`: expected bits of this
    question and of the best one that could be asked, None for a Skip. `recheck`: asked before, after a
    contradiction.
    """

    kind: Literal["amigo_turn"] = "amigo_turn"
    turn: int
    text: str
    question: str
    violation: Violation | None
    reply: Reply
    constraint: Constraint | None
    before: list[int]
    after: list[int]
    noise: Noise | None = None
    gain: float | None = None
    best_gain: float | None = None
    recheck: bool = False

    @property
    def valid(self) -> bool:
        return self.violation is None

    @property
    def eliminated(self) -> int:
        """Images that this turn ruled out; a recheck can bring images back, which is not negative here."""
        return max(0, len(self.before) - len(self.after))

    @property
    def contradiction(self) -> bool:
        """No image fits all answers any more."""
        return bool(self.before) and not self.after


class OverRow(_Row):
    """The end. `guess` is None where none was made; `feasible`: what fitted all answers just before."""

    kind: Literal["amigo_over"] = "amigo_over"
    guess: int | None
    text: str
    target: int
    feasible: list[int]
    outcome: Outcome

    @property
    def early(self) -> bool:
        """A guess while more than one image fitted."""
        return self.guess is not None and len(self.feasible) > 1


class GameRecord(_Row):
    """One game, whole: what metrics, export and agreement read. `over` is None while it is played."""

    episode: str
    tau: float | None = None
    size: int
    noise: str = "none"
    uploads: list[UploadRow] = Field(default_factory=list)
    turns: list[TurnRow] = Field(default_factory=list)
    over: OverRow | None = None


def outcome_of(guess: int | None, target: int, feasible: list[int]) -> Outcome:
    """See Outcome. The paper's verified needs one feasible image, the target; the third is our addition."""
    if guess is None:
        return "no_guess"
    if guess != target:
        return "incorrect"
    if target not in feasible:
        return "contradicted"
    return "verified" if len(feasible) == 1 else "random_guess"
