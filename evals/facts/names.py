"""The names that are looked for in a trace, and when a text holds one of them.

A name counts where its words stand one after the other, in any case and width; Chinese needs no spaces. A
short one (fewer than three letters or digits, a Chinese character counting two; of digits alone fewer than
five) stands in any text by chance: it must be a whole line, or a whole string of a result's data. A name
that the question says already is not looked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fieldmark.evals.facts.text import Text, bare
from fieldmark.evals.judges.normalise import fold, is_cjk, words
from fieldmark.task import Gold

MIN_SIGNS = 3
MIN_DIGITS = 5
_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True)
class Name:
    """`words` for comparing; `alone`, its folded text, where it must stand alone."""

    words: tuple[str, ...]
    alone: str | None


class Names:
    """Names of one thing; false when none is left that could be looked for."""

    def __init__(self, names: Iterable[str], question: str) -> None:
        asked = Text(question)
        found = dict.fromkeys(made for name in names if (made := _name(name)))
        self._names = [name for name in found if not asked.has(name.words) and not _alone_in(asked, name)]

    def __bool__(self) -> bool:
        return bool(self._names)

    def in_text(self, text: Text) -> bool:
        """Whether a text holds one of them."""
        return any(_alone_in(text, name) if name.alone else text.has(name.words) for name in self._names)

    def told_by(self, own: Text) -> bool:
        """Whether who wrote `own` had all the words of one, in any order: then it is no news to them."""
        return any(
            _alone_in(own, name) or own.has(name.words) if name.alone else own.has_each(name.words)
            for name in self._names
        )


def names_of(gold: Gold, question: str) -> Names:
    """Every name under which an answer would be right: the reference, its aliases and finer names."""
    return Names([gold.answer, *gold.aliases, *gold.finer], question)


def _name(text: str) -> Name | None:
    if not bare(text):
        return None
    found = words(text)
    while len(found) > 1 and found[0] in _ARTICLES:
        found = found[1:]
    return Name(found, bare(text) if _is_short(text) else None)


def _is_short(text: str) -> bool:
    signs = [char for char in fold(text) if char.isalnum()]
    if all(char.isdecimal() for char in signs):
        return len(signs) < MIN_DIGITS
    return sum(2 if is_cjk(char) else 1 for char in signs) < MIN_SIGNS


def _alone_in(text: Text, name: Name) -> bool:
    return name.alone is not None and text.has_alone(name.alone)
