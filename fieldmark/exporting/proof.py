"""Proves that files hold no gold: each answer, alias and evidence link is searched for in every line.

Compared are whole words without case, width and signs, as `sandbox/goldscan.py` does, and links without
scheme and coding. An agent's own words (`OWN_WORDS`) are its prediction and are not searched.
"""

from __future__ import annotations

import csv
import html
import json
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.evals.judges.normalise import fold, is_cjk
from fieldmark.exporting.spellings import Spellings
from fieldmark.sandbox.goldscan import Phrases
from fieldmark.task import Gold

MIN_SIGNS = 4
"""A phrase with fewer letters and digits (two for Chinese), or of digits alone, is in any text by chance."""
OWN_WORDS = {
    "answer": ("text", "rationale", "raw"),
    "model_response": ("text", "reasoning", "tool_calls"),
    "tool_call": ("arguments",),
    "memory_write": ("text",),
}
"""Kind of event → fields that the agent wrote. Of other rows it wrote `answer`."""
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_TAG = re.compile(r"<[^<>]*>")  # no longer than to the next one: linear, whatever the text
_BREAK = " 0break0 "
"""Stands between texts that are apart, so that no phrase is found across them."""


@dataclass(frozen=True, order=True)
class Found:
    """Gold in an exported file. `line` counts from 1; 0: over several lines. `what` names a task, no text."""

    file: str
    line: int
    what: str


class GoldSearch:
    """`short`: phrases that are too short to be searched for, unless `every` one is, and in any spelling."""

    def __init__(self, gold: Mapping[str, Gold], *, every: bool = False) -> None:
        self._every = every
        self._whose: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self.short = 0
        for task_id, item in gold.items():
            for kind, text in _phrases(item):
                self._add(f"{kind} of task {task_id}", text)
            for link in item.evidence:
                self._add_evidence(f"evidence of task {task_id}", link)
        self._search = Phrases(self._whose)
        self._spelt = Spellings(self._whose if every else ())

    def __len__(self) -> int:
        return len(self._whose) + len(self._links)

    def in_text(self, text: str) -> set[str]:
        """Whose gold a text holds."""
        read = "\n".join(_readings(text))
        links = _link(read)
        found = self._search.within(read) | self._spelt.within(f"{read}{_BREAK}{urllib.parse.unquote(read)}")
        return {self._whose[phrase] for phrase in found} | {
            what for link, what in self._links.items() if link in links
        }

    def in_file(self, path: Path, name: str) -> list[Found]:
        """All that a file holds; its name counts as line 0."""
        found = {Found(name, line, what) for line, text in _units(path) for what in self.in_text(text)}
        found |= {Found(name, 0, what) for what in self.in_text(name)}
        told = {each.what for each in found if each.line}
        return sorted(each for each in found if each.line or each.what not in told)

    def _add(self, what: str, text: str) -> None:
        if _is_short(text) and not self._every:
            self.short += 1
        else:
            self._whose.setdefault(text, what)

    def _add_evidence(self, what: str, text: str) -> None:
        if "://" in text:
            self._links.setdefault(_link(text).strip("/ "), what)
        else:
            self._add(what, text)


def _phrases(item: Gold) -> Iterator[tuple[str, str]]:
    yield "answer", item.answer
    yield from (("alias", text) for text in [*item.aliases, *item.finer])


def _is_short(text: str) -> bool:
    signs = [char for char in fold(text) if char.isalnum()]
    if all(char.isdecimal() for char in signs):
        return True
    return sum(2 if is_cjk(char) else 1 for char in signs) < MIN_SIGNS


def _link(text: str) -> str:
    return re.sub(r"https?://(www\.)?", "", urllib.parse.unquote(text).casefold())


def _readings(text: str) -> list[str]:
    """A text as it is, without escapes of JSON inside it, and without those and the tags of HTML."""
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    plain = plain.replace("\\/", "/").replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    return [text, _BREAK, plain, _BREAK, html.unescape(_TAG.sub(" ", plain))]


def _units(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text to be searched) of a file of any kind."""
    if path.suffix == ".csv":
        yield from _csv_units(path)
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".jsonl":
        yield from ((number, _row_text(line)) for number, line in enumerate(text.split("\n"), 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        yield number, _strings(line) if path.suffix == ".json" else line
    if path.suffix != ".json":
        yield 0, text  # a phrase may stand on two lines


def _row_text(line: str) -> str:
    """Every text of a row but the agent's own words; the line itself where it is no row."""
    try:
        row = json.loads(line)
    except ValueError:
        return line
    if not isinstance(row, dict):
        return line
    own = OWN_WORDS.get(str(row.get("kind")), ()) if "kind" in row else ("answer",)
    return _strings(json.dumps({key: value for key, value in row.items() if key not in own}))


def _strings(line: str) -> str:
    """The decoded string literals of a line of JSON, keys too."""
    return _BREAK.join(str(_decoded(literal)) for literal in _LITERAL.findall(line)) or line


def _decoded(literal: str) -> Any:
    try:
        return json.loads(literal)
    except ValueError:
        return literal


def _csv_units(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            cells = [str(cell) for name, cell in row.items() if name != "answer"]
            yield reader.line_num, _BREAK.join(cells)
