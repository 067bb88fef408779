"""What is broader than the reference, and what stands beside it: asked of named sources, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fieldmark.evals.judges.normalise import fold, is_cjk, words
from fieldmark.evals.judges.phrases import unquote, unwrap
from fieldmark.task import Gold

Kind = Literal["ancestor", "sibling", "unrelated", "stranger"]
"""`unrelated`: the source knows answer and reference, and neither stands above or beside the other.
`stranger`: it knows the reference and not the answer.
"""
Words = tuple[str, ...]
_LITTLE = frozenset("an the of in at by from and de la le van von".split())
"""Words that relate nothing, beside single letters and digits."""


_TELLING: dict[Kind, int] = {"ancestor": 0, "sibling": 0, "unrelated": 1, "stranger": 2}
VERDICT, GOLD_BROADER = "verdict", "gold.broader"
OWN_SOURCES = frozenset({VERDICT, GOLD_BROADER})
"""Sources that every run has: the judge's `partially_correct`, the reference's own list."""


class Hierarchy(Protocol):
    """A source of names and their parents. `name` stands in every row that rests on it."""

    name: str

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        """What an answer is to a reference with these names; None where it does not know the reference."""
        ...


@dataclass(frozen=True)
class Relation:
    """What `source` says that the answer is to the reference."""

    kind: Kind
    source: str


class GoldNames:
    """The reference's own list of broader names. It says nothing of siblings: lists of other tasks share
    words such as "airliner", which make no siblings.
    """

    name = GOLD_BROADER

    def __init__(self, gold: Gold) -> None:
        self._broader = {plain(text) for text in gold.broader}

    def relation(self, answer: Words, names: Sequence[Words]) -> Kind | None:
        return "ancestor" if answer in self._broader else None


def relation(answer: str, gold: Gold, sources: Sequence[Hierarchy]) -> Relation | None:
    """By the source that says most, of equals the first: the reference's own names, then `sources`.

    None where none knows the reference.
    """
    given = plain(answer)
    names = [plain(text) for text in (gold.answer, *gold.aliases, *gold.finer)]
    said = [(source.relation(given, names), source.name) for source in (GoldNames(gold), *sources)]
    found = [Relation(kind, name) for kind, name in said if kind]
    return min(found, key=lambda each: _TELLING[each.kind], default=None)


def shares_words(answer: str, gold: Gold, question: str) -> bool:
    """Whether an answer has a word of the reference that the question has not: they may be related."""
    names = {word for text in (gold.answer, *gold.aliases, *gold.finer) for word in plain(text)}
    shared = set(plain(answer)) & (names - set(plain(question)) - _LITTLE)
    return any(len(word) > 1 or is_cjk(word) for word in shared)


def plain(text: str) -> Words:
    """The words of a name as judges compare them: without case, quotation marks and openings."""
    return words(unwrap(unquote(fold(text))))
