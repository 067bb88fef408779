"""How far two violation detectors agree, on Skip or no Skip and on the kind: Cohen's κ."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from fieldmark.evals.amigo.detector import Detector, Past
from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.replay import Dialogue, detected
from fieldmark.evals.amigo.rows import GameRecord, TurnRow, Violation, ViolationKind
from fieldmark.evals.failures.agreement import Agreement, agreement

VALID = "valid"


class DetectorAgreement(BaseModel):
    """On whether a turn is skipped, and on the kind of violation, `valid` being one."""

    skip: Agreement
    kind: Agreement


class Inconsistent(BaseModel):
    """Turns of one figure that the paper answered although they ask about one type of attribute."""

    figure: int
    type: str
    turns: list[int]


def agree(first: str, second: str, pairs: Sequence[tuple[str, str]]) -> DetectorAgreement:
    """`pairs`: the kind that each detector, by name, gave the same turn, or `valid`."""
    skips = [("valid" if a == VALID else "skip", "valid" if b == VALID else "skip") for a, b in pairs]
    return DetectorAgreement(skip=agreement(first, second, skips), kind=agreement(first, second, pairs))


def with_paper(detector: Detector, lexicon: Lexicon, dialogues: Sequence[Dialogue]) -> DetectorAgreement:
    """A detector and the Skips that the figures print."""
    pairs = [
        (_kind(turn.skip), _kind(said.kind if said else None))
        for dialogue in dialogues
        for turn, said in zip(dialogue.turns, detected(detector, lexicon, dialogue), strict=True)
    ]
    return agree("the paper", detector.name, pairs)


def on_games(first: Detector, second: Detector, records: Sequence[GameRecord]) -> DetectorAgreement:
    """Two detectors on the turns of recorded games, each after the turns that were answered in it."""
    pairs = [
        (_kind_of(first.check(turn.text, past, recheck)), _kind_of(second.check(turn.text, past, recheck)))
        for record in records
        for turn, past, recheck in _turns(record)
    ]
    return agree(first.name, second.name, pairs)


def inconsistent(lexicon: Lexicon, dialogues: Sequence[Dialogue]) -> list[Inconsistent]:
    """Where the paper answers several questions on one type in one game, by the types of the lexicon."""
    found = []
    for dialogue in dialogues:
        types: dict[str, list[int]] = {}
        for number, turn in enumerate(dialogue.turns, 1):
            asked = lexicon.constraint(turn.asks)
            if turn.reply and asked:
                types.setdefault(asked.type, []).append(number)
        found += [
            Inconsistent(figure=dialogue.figure, type=kind, turns=turns)
            for kind, turns in types.items()
            if len(turns) > 1
        ]
    return found


def _turns(record: GameRecord) -> list[tuple[TurnRow, list[Past], bool]]:
    past: list[Past] = []
    turns = []
    for turn in record.turns:
        turns.append((turn, [*past], not turn.before))
        if turn.valid:
            past.append(Past(turn.question, turn.reply, turn.constraint))
    return turns


def _kind_of(said: Violation | None) -> str:
    return _kind(said.kind if said else None)


def _kind(kind: ViolationKind | None) -> str:
    return kind or VALID
