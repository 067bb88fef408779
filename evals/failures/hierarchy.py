"""What is broader than the reference, and what stands beside it: asked of named sources, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fieldmark.evals.judges.normalise import fold, words
from fieldmark.evals.judges.phrases import unquote, unwrap
from fieldmark.task import Gold

Kind = Literal["ancestor", "sibling"]
Words = tuple[str, ...]


class Hierarchy(Protocol):
    """A source of names and their parents. `name` stands in every row that rests on it."""

    name: str

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        """What an answer is to a reference that has these names; None where the source does not say."""
        ...


@dataclass(frozen=True)
class Relation:
    """`source` says that the answer is an ancestor or a sibling of the reference."""

    kind: Kind
    source: str


class GoldNames:
    """The reference's own list of broader names. It says nothing of siblings: lists of other tasks share
    words such as "airliner", which make no siblings.
    """

    name = "gold.broader"

    def __init__(self, gold: Gold) -> None:
        self._broader = {plain(text) for text in gold.broader}

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        return "ancestor" if answer in self._broader else None


def relation(answer: str, gold: Gold, sources: Sequence[Hierarchy]) -> Relation | None:
    """By the first source that says anything: the reference's own names, then `sources` in their order."""
    given = plain(answer)
    names = [plain(text) for text in (gold.answer, *gold.aliases, *gold.finer)]
    if not given or given in names:
        return None
    for source in (GoldNames(gold), *sources):
        kind = source.relation(given, names)
        if kind:
            return Relation(kind, source.name)
    return None


def plain(text: str) -> Words:
    """The words of a name as judges compare them: without case, quotation marks and openings."""
    return words(unwrap(unquote(fold(text))))
