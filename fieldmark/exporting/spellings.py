"""Finds a phrase however it is spelt: spaced out or run together, with signs or hidden characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import accumulate

from fieldmark.evals.judges.normalise import words


class Spellings:
    """Many phrases. `B-2501N` is in `b2501n` and `B 2501 N`, `White` in `w-h-i-t-e` and not in `whiteness`.

    Not found: Traditional for Simplified characters, translations, other names for the same thing.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._wanted = {"".join(_pieces(phrase)): phrase for phrase in phrases}
        self._wanted.pop("", None)

    def within(self, text: str) -> set[str]:
        """The phrases, as they were given, that begin and end with a piece of the text."""
        pieces = _pieces(text)
        edges = {0, *accumulate(map(len, pieces))}
        joined = "".join(pieces)
        return {phrase for wanted, phrase in self._wanted.items() if _stands(wanted, joined, edges)}


def _stands(wanted: str, joined: str, edges: set[int]) -> bool:
    at = joined.find(wanted)
    while at >= 0 and not {at, at + len(wanted)} <= edges:
        at = joined.find(wanted, at + 1)
    return at >= 0


def _pieces(text: str) -> tuple[str, ...]:
    """Words, runs of digits and single Chinese characters, folded as the judge folds and without accents."""
    apart = unicodedata.normalize("NFKD", text)
    return words("".join(char for char in apart if unicodedata.category(char) != "Mn"))
