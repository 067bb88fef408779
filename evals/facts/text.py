"""A text to be searched for names: folded as the judge folds, each step only when it is needed.

A page can be long and folding goes character by character, so a cheap look comes first.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any
from urllib.parse import unquote

from fieldmark.evals.judges.normalise import fold_case, words

BREAK = "\n0break0\n"
"""Stands between texts that are apart, so that no name is found across them."""
_MOST_STRINGS = 20_000
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_BLANK = re.compile(r"\\[nrt]")
_TAG = re.compile(r"<[^<>]{0,300}>")
_SIGNS = frozenset({"and", "plus", "sharp"})  # what `&`, `+`, `#` are folded to: not to be found as letters
_ROUND = " \t.,:;!?\"'“”‘’()[]{}<>*_`~|•·-…。，、：；！？「」『』《》【】（）"


class Text:
    """A text, its escapes of URL, JSON and HTML undone."""

    def __init__(self, raw: str) -> None:
        self._raw = raw

    def has(self, name: tuple[str, ...]) -> bool:
        """Whether the words of a name stand in the text, one after the other; never for no words."""
        if not name or not all(word in _SIGNS or word in self._quick for word in name):
            return False
        return f"\x1f{chr(31).join(name)}\x1f" in self._joined

    def has_each(self, name: tuple[str, ...]) -> bool:
        """Whether each word of a name stands somewhere in the text; never for no words."""
        if not name:
            return False
        return all(word in _SIGNS or word in self._quick for word in name) and self._set.issuperset(name)

    def has_alone(self, folded: str) -> bool:
        """Whether a line, or a whole string of the data, is this and nothing else."""
        return folded in self._lines

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
        text = self._readings
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text.translate(_left_out()))
        return text.casefold().translate(_left_out())

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return words(self._readings)

    @cached_property
    def _joined(self) -> str:
        return f"\x1f{chr(31).join(self._words)}\x1f"

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(self._words)

    @cached_property
    def _lines(self) -> frozenset[str]:
        return frozenset(bare(line) for line in self._readings.splitlines())


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


@cache
def _left_out() -> dict[int, None]:
    """Characters that folding takes out of the middle of a word."""
    invisible = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"]
    return dict.fromkeys([*invisible, *map(ord, "™®©℠'’ʼ‘`")])
