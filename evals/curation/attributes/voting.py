"""From answers to labels: a weighted vote on each value, and no label on doubt.

Every answer weighs its model's × its resolution's × its form's weight. `keep_from` of all the weight that was
to be cast must say Yes, or No; else the value is open. An Unsure, or no answer, counts for neither side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fieldmark.evals.amigo.constraint import NONE, Answer
from fieldmark.evals.curation.attributes.settings import Kind

Why = Literal["clear", "doubt", "conflict", "no value"]


@dataclass(frozen=True)
class Vote:
    """What one model says, at one resolution and to one form, of each value; {}: it gave no usable answer."""

    type: str
    weight: float
    asked: Sequence[str]
    said: Mapping[str, Answer]


@dataclass(frozen=True)
class Shares:
    """Of all weight on a value, 0–1; what is missing to 1 is Unsure or was never said."""

    yes: float
    no: float


@dataclass(frozen=True)
class Decision:
    """`label`: values, or [`none`]; empty unless `why` is `clear`. `doubt`: a value is open; `conflict`: more
    values than the type can have; `no value`: none of the schema, of a type that must have one.
    """

    type: str
    label: list[str]
    why: Why
    shares: dict[str, Shares] = field(default_factory=dict)


def decide(name: str, kind: Kind, votes: Sequence[Vote], keep_from: float) -> Decision:
    """Of one picture; votes on other types do not count."""
    own = [vote for vote in votes if vote.type == name]
    shares = {value: _shares(value, own) for value in kind.values}
    there = [value for value, share in shares.items() if share.yes >= keep_from]
    if any(max(share.yes, share.no) < keep_from for share in shares.values()):
        return Decision(name, [], "doubt", shares)
    if len(there) > 1 and not kind.several:
        return Decision(name, [], "conflict", shares)
    if there or kind.absent:
        return Decision(name, there or [NONE], "clear", shares)
    return Decision(name, [], "no value", shares)


def ratings(value: str, votes: Sequence[Vote]) -> list[str]:
    """Yes and No on a value, by whoever said one: a unit of Krippendorff's α."""
    said = [vote.said.get(value) for vote in votes]
    return [each for each in said if each in ("Yes", "No")]


def _shares(value: str, votes: Sequence[Vote]) -> Shares:
    asked = [vote for vote in votes if value in vote.asked]
    whole = sum(vote.weight for vote in asked)

    def share(answer: Answer) -> float:
        said = sum(vote.weight for vote in asked if vote.said.get(value) == answer)
        return round(said / whole, 6) if whole else 0.0

    return Shares(share("Yes"), share("No"))
