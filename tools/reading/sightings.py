"""Aircraft registrations among lines of text, by the strict grammar of `registrations`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fieldmark.tools.reading.engine import Engine, Grey, Word
from fieldmark.tools.reading.lines import (
    Reading,
    around,
    distinct,
    plausible,
    read_page,
    read_strips,
    read_turned_strips,
    same_place,
)
from fieldmark.tools.reading.registrations import Mark, marks, normalised
from fieldmark.trace import Box

_LANG = "en"
_LEAST = 0.25
_BY_FORM = 0.3  # one stray stroke makes Tesseract say 0; a whole mark with its dash seldom comes by chance
_MAX_CHANGES = 2
_PER_CHANGE = 0.85


@dataclass(frozen=True)
class Sighting:
    """A mark seen in a picture. `raw` is what was read, `text` the valid mark nearest to it.

    `changed`: (position in `text`, character as read, as assumed). `turned`: as of a Word.
    """

    text: str
    raw: str
    confidence: float
    box: Box
    nation: str
    changed: tuple[tuple[int, str, str], ...] = ()
    turned: int = 0


def sightings(lines: Sequence[Reading]) -> list[Sighting]:
    """Every registration in the lines once, surest first; of several readings of one place the surest."""
    found = [mark for line in lines for raw, run in _spellings(line) if (mark := _sighting(raw, run))]
    kept: list[Sighting] = []
    for mark in sorted(found, key=lambda item: -item.confidence):
        if not any(mark.text == other.text or same_place(mark.box, other.box) for other in kept):
            kept.append(mark)
    return kept


def read_registrations(grey: Grey, engine: Engine) -> tuple[list[Reading], list[Sighting]]:
    """(plausible lines, marks) of a photo.

    Cheap passes first; it is looked at again, and turned, only while nothing sure has been read.
    """
    lang = engine.language(_LANG)
    lines = read_strips(grey, engine, lang)
    if not _is_sure(sightings(lines), engine):
        lines += _second_look(grey, engine, lang)
    if not sightings(lines):
        lines = _turned(grey, engine, lang) or lines
    return distinct(plausible(lines, engine)), sightings(lines)


def _second_look(grey: Grey, engine: Engine, lang: str) -> list[Reading]:
    if engine.any_angle:
        return read_page(grey, engine, lang)
    return read_strips(grey, engine, lang, smooth=True)


def _turned(grey: Grey, engine: Engine, lang: str) -> list[Reading]:
    """The lines of that turn of the picture which gives the surest mark; none without one."""
    if engine.any_angle:
        return []
    lines = [line for strips in read_turned_strips(grey, engine, lang) for line in strips]
    found = sightings(lines)
    return [line for line in lines if line.turned == found[0].turned] if found else []


def _is_sure(found: Sequence[Sighting], engine: Engine) -> bool:
    return bool(found) and found[0].confidence >= engine.plausible


def _spellings(line: Reading) -> Iterator[tuple[str, Sequence[Word]]]:
    """Each word, and each run of two or three, joined."""
    words = [word for word in line.words if any(char.isalnum() or char == "-" for char in word.text)]
    for size in (1, 2, 3):
        for start in range(len(words) - size + 1):
            run = words[start : start + size]
            raw = "".join(word.text for word in run).strip("-|_.,:;~'\"()[]{}<>/\\ ")
            yield raw, run


def _sighting(raw: str, words: Sequence[Word]) -> Sighting | None:
    confidence = min(word.confidence for word in words)
    for mark in marks(raw)[:1]:
        sure = max(
            confidence * _PER_CHANGE ** len(mark.changed), _BY_FORM if "-" in raw and not mark.changed else 0
        )
        if len(mark.changed) <= _MAX_CHANGES and sure >= _LEAST and _is_written(raw, mark):
            box = around([word.box for word in words])
            return Sighting(mark.text, raw, round(sure, 3), box, mark.nation, mark.changed, words[0].turned)
    return None


def _is_written(raw: str, mark: Mark) -> bool:
    """Whether the reading itself looks like a mark: ordinary words must not become registrations.

    The grammar's dash must have been read where it belongs; a mark without one needs a digit that was read.
    """
    if "-" in mark.text:
        return normalised(raw).find("-") == mark.text.find("-")
    return len(mark.text) >= 4 and any(char.isdigit() for char in raw) and raw[:1].isupper()
