"""A text to be searched for names: folded as the judge folds, each step only when it is needed.

A page can be long and folding goes character by character, so a cheap look comes first.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any
from urllib.parse import unquote

from fieldmark.evals.judges.normalise import fold_case, words

BREAK = "\n0break0\n"
"""Stands between texts that are apart, so that no name is found across them."""
_MOST_STRINGS = 20_000
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_BLANK = re.compile(r"\\[nrt]")
_APOSTROPHES = re.compile(r"(['’ʼ‘`]+)(?=(\d?))")
_TAG = re.compile(r"<[^<>]{0,300}>")
_SIGNS = frozenset({"and", "plus", "sharp"})  # what `&`, `+`, `#` are folded to: not to be found as letters
_TRADE = re.compile("[™®©℠]")
_AROUND = 60
"""Characters."""
_ROUND = " \t.,:;!?\"'“”‘’()[]{}<>*_`~|•·-…。，、：；！？「」『』《》【】（）"


class Text:
    """A text, its escapes of URL, JSON and HTML undone."""

    def __init__(self, raw: str) -> None:
        self._raw = raw

    def has(self, name: tuple[str, ...]) -> bool:
        """Whether the words of a name stand in the text, one after the other; never for no words."""
        counts = {word: self._quick.count(word) for word in name if word not in _SIGNS}
        if not counts or not all(counts.values()):
            return False
        rarest = min(counts, key=lambda word: counts[word])
        wanted = _joined(name)
        return any(wanted in _joined(near) for near in self._near(rarest, 2 * len(wanted) + _AROUND))

    def has_each(self, name: tuple[str, ...]) -> bool:
        """Whether each word of a name stands somewhere in the text; never for no words."""
        return bool(name) and self._words.issuperset(name)

    def has_alone(self, folded: str) -> bool:
        """Whether a line, or a whole string of the data, is this and nothing else."""
        return folded in self._lines

    def _near(self, word: str, reach: int) -> Iterator[Sequence[str]]:
        """The words around each place of a word, `reach` characters to either side, none of them cut."""
        text, end = self._quick, 0
        at = text.find(word)
        while at >= 0:
            start, end = max(0, at - reach), at
            while 0 <= at <= end + reach:  # places close together share their surroundings
                end, at = at + len(word), text.find(word, at + len(word))
            end = min(len(text), end + reach)
            yield words(text[start:end])[start > 0 : -1 if end < len(text) else None]

    @cached_property
    def _readings(self) -> str:
        """The text as it is; and without tags, where it has some."""
        text = self._raw
        if "%" in text:
            text = unquote(text)
        if "\\" in text:
            text = _BLANK.sub(" ", _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text))
        if "&" in text:
            text = html.unescape(text)
        return f"{text}{BREAK}{_TAG.sub(' ', text)}" if "<" in text and ">" in text else text

    @cached_property
    def _quick(self) -> str:
        """Of the same words as the text, by steps that are quick."""
        text = self._readings
        if not text.isascii():
            text = unicodedata.normalize("NFKC", _TRADE.sub("", text))
            for char in _invisible().intersection(text):
                text = text.replace(char, "")
        return " ".join(_APOSTROPHES.sub(_parting, text).casefold().split())

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(words(self._readings))

    @cached_property
    def _lines(self) -> frozenset[str]:
        return frozenset(bare(line) for line in self._readings.splitlines())


def _joined(found: Sequence[str]) -> str:
    return f"\x1f{chr(31).join(found)}\x1f"


def bare(line: str) -> str:
    """A line folded, without the signs around it."""
    return fold_case(line).strip(_ROUND) or fold_case(line)


def strings(value: Any) -> Iterator[str]:
    """Every text of a JSON value, names of fields left out; a bounded number of them."""
    waiting, found = [value], 0
    while waiting and found < _MOST_STRINGS:
        value = waiting.pop()
        found += 1
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def _parting(found: re.Match[str]) -> str:
    """One apostrophe joins the letters around it; several part them, and one before a digit does."""
    return "" if len(found[1]) == 1 and not found[2] else " "


@cache
def _invisible() -> frozenset[str]:
    """Characters that folding takes out of the middle of a word."""
    every = map(chr, range(sys.maxunicode + 1))
    return frozenset(char for char in every if unicodedata.category(char) == "Cf")
