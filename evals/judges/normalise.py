"""When two texts are the same: how an answer is folded before it is compared with gold.

Folded away: NFKC forms (full width, ligatures, composed and decomposed accents), every Unicode dash,
invisible characters, ™ and ®, runs of white space. Kept: accents (`resume` is not `résumé`), Traditional
against Simplified Chinese, and spelling.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_MARKS_OF_TRADE = str.maketrans("", "", "™®©℠")
_APOSTROPHES = "'’ʼ‘`"
_WORDS_OF_SIGNS = {"&": "and", "+": "plus", "#": "sharp"}
_ATOM = re.compile(r"d+|c|l(?:q?l)*|s|(?<=l)h")
"""Over the kinds of the characters: a run of digits, one CJK character, a word, a sign, a sharp."""

CHARACTERS = 8192
"""Of which what they are is remembered: a large run has few that differ, in very many answers."""


def fold(text: str) -> str:
    """NFKC with plain dashes, no invisible characters and single spaces; case stays as it is."""
    text = unicodedata.normalize("NFKC", text.translate(_MARKS_OF_TRADE))
    return " ".join("".join(_plain(char) for char in text).split())


def fold_case(text: str) -> str:
    """`fold` without case: how literal texts (`match="exact_text"`) and registrations are compared."""
    return unicodedata.normalize("NFKC", fold(text).casefold())


@lru_cache(maxsize=CHARACTERS)
def _plain(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Pd" or char in "−⁃":
        return "-"
    return "" if category == "Cf" else char


@dataclass(frozen=True)
class Atom:
    """The smallest unit that is compared; `text` is without case, `start:end` a span of the folded text."""

    text: str
    start: int
    end: int


def atoms(folded: str) -> list[Atom]:
    """Words, runs of digits and single CJK characters of a folded text; punctuation only separates.

    `B-2501N`, `B2501N` and `b 2501n` have the same atoms, `737-800` and `737800` have not.
    `&`, `+` and the `#` of `C#` are words, so that `S10+` differs from `S10`.
    """
    kinds = "".join(_kind(char) for char in folded)
    return [Atom(_word(folded[m.start() : m.end()]), m.start(), m.end()) for m in _ATOM.finditer(kinds)]


def words(text: str) -> tuple[str, ...]:
    """The atoms of any text, for comparing."""
    return tuple(atom.text for atom in atoms(fold(text)))


def _word(piece: str) -> str:
    if piece in _WORDS_OF_SIGNS:
        return _WORDS_OF_SIGNS[piece]
    return "".join(char for char in piece if char not in _APOSTROPHES).casefold()


@lru_cache(maxsize=CHARACTERS)
def _kind(char: str) -> str:
    if char.isdecimal():
        return "d"
    if is_cjk(char):
        return "c"
    if char.isalpha() or unicodedata.category(char).startswith("M"):
        return "l"
    if char in _APOSTROPHES:
        return "q"
    return {"&": "s", "+": "s", "#": "h"}.get(char, "-")


def is_cjk(char: str) -> bool:
    """Han characters and kana, which are written without spaces between words."""
    return (
        "\u3400" <= char <= "\u9fff"
        or "\u3005" <= char <= "\u3007"
        or "\u3041" <= char <= "\u30fa"
        or "\u30fc" <= char <= "\u30ff"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )
