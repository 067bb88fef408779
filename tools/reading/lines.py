"""Reads text in a grey image: over the whole page, and line by line where a photo tilts or dwarfs it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import cv2
import numpy as np

from fieldmark.tools.reading.engine import Engine, Grey, Word
from fieldmark.tools.reading.noise import smoothed
from fieldmark.tools.reading.text_lines import TextLine, find_lines
from fieldmark.trace import Box

_HAN = re.compile(r"[\u2e80-\u9fff]")
_BETWEEN_HAN = re.compile(rf"(?<={_HAN.pattern}) (?={_HAN.pattern})")
_STRIPS = 16
_SIGMA = 1.2  # px of a strip
_ENOUGH = 3
_CLEARLY = 1.3
_SHRINK = 0.35


@dataclass(frozen=True)
class Reading:
    """One line: its words in order, their boxes in pixels of the image that was read."""

    words: tuple[Word, ...]

    @property
    def box(self) -> Box:
        return around([word.box for word in self.words])

    @property
    def text(self) -> str:
        return _BETWEEN_HAN.sub("", " ".join(word.text for word in self.words))

    @property
    def confidence(self) -> float:
        weights = [len(word.text) for word in self.words]
        return sum(w * word.confidence for w, word in zip(weights, self.words, strict=True)) / sum(weights)

    @property
    def turned(self) -> int:
        """By how many degrees clockwise the picture was turned to read it."""
        return self.words[0].turned


def read_strips(grey: Grey, engine: Engine, lang: str, *, smooth: bool = False) -> list[Reading]:
    """Lines of large characters, tilted or not; `smooth` helps against heavy noise."""
    lines = find_lines(grey, _STRIPS)
    if smooth:
        lines = [replace(line, strip=smoothed(line.strip, _SIGMA)) for line in lines]
    return _strips(lines, engine, lang)


def read_turned_strips(grey: Grey, engine: Engine, lang: str) -> Iterator[list[Reading]]:
    """Lines as `read_strips` gives them, of the image turned by 180, 90 and 270 degrees."""
    lines = find_lines(grey, _STRIPS)
    yield _strips([line.upside_down() for line in lines], engine, lang, turned=180)
    lines = find_lines(turn(grey, 90), _STRIPS)
    for strips, turned in ((lines, 0), ([line.upside_down() for line in lines], 180)):
        yield [turned_back(line, 90, grey.shape) for line in _strips(strips, engine, lang, turned)]


def read_page(grey: Grey, engine: Engine, lang: str, shrink: float = 1.0) -> list[Reading]:
    """Whatever the engine finds on the page; `shrink` below 1 suits letters over ~120 px."""
    height, width = (max(round(side * shrink), 1) for side in grey.shape)
    page = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    words = engine.read_page(np.asarray(page, np.uint8), lang)
    return _readings(words, lambda word: _scaled(word.box, 1 / shrink))


def read_text(grey: Grey, engine: Engine, lang: str) -> list[Reading]:
    """The plausible lines.

    Where the picture gives nothing sure as it is it is turned; where it does, only upside down and only for
    clearly more: what stands on its head reads as sure nonsense, and so does what is turned on it.
    """
    if engine.any_angle:
        return _page_first(grey, engine, lang)
    upright = _both(grey, engine, lang)
    best, turned = max(_worth(upright, engine), _ENOUGH - 1), 0
    some_sure = best >= _ENOUGH
    for lines in islice(read_turned_strips(grey, engine, lang), 1 if some_sure else None):
        if _worth(lines, engine) > best * (_CLEARLY if some_sure else 1):
            best, turned = _worth(lines, engine), lines[0].turned
    if not turned:
        return upright
    return [turned_back(line, turned, grey.shape) for line in _both(turn(grey, turned), engine, lang)]


def turn(grey: Grey, degrees: int) -> Grey:
    """The image turned clockwise by 0, 90, 180 or 270 degrees."""
    return np.ascontiguousarray(np.rot90(grey, -degrees // 90))


def turned_box(box: Box, degrees: int, shape: tuple[int, ...]) -> Box:
    """A box of `turn(grey, degrees)` in pixels of `grey`, whose shape is (H, W)."""
    height, width = shape[0], shape[1]
    x0, y0, x1, y1 = box
    return {
        0: box,
        90: (y0, height - x1, y1, height - x0),
        180: (width - x1, height - y1, width - x0, height - y0),
        270: (width - y1, x0, width - y0, x1),
    }[degrees]


def _page_first(grey: Grey, engine: Engine, lang: str) -> list[Reading]:
    """The page, and strips where it has nothing: small letters in large photos."""
    lines = distinct(plausible(read_page(grey, engine, lang), engine))
    strips = distinct(plausible(read_strips(grey, engine, lang), engine))
    lines += [line for line in strips if not any(same_place(line.box, other.box) for other in lines)]
    return _downwards(lines)


def _both(grey: Grey, engine: Engine, lang: str) -> list[Reading]:
    """Page and strips together; where both read the same place the surer one stays."""
    lines = plausible(chain(read_page(grey, engine, lang), read_strips(grey, engine, lang)), engine)
    return distinct(lines or plausible(read_page(grey, engine, lang, _SHRINK), engine))


def distinct(lines: Iterable[Reading]) -> list[Reading]:
    """Of several readings of one place the surest."""
    kept: list[Reading] = []
    for line in sorted(lines, key=lambda item: -item.confidence * min(len(item.text), 8)):
        if not any(same_place(line.box, other.box) for other in kept):
            kept.append(line)
    return _downwards(kept)


def _downwards(lines: Iterable[Reading]) -> list[Reading]:
    return sorted(lines, key=lambda line: (line.box[1], line.box[0]))


def plausible(lines: Iterable[Reading], engine: Engine) -> list[Reading]:
    """The lines without the scraps that texture is often read as."""
    kept = []
    for line in lines:
        words = tuple(word for word in line.words if _is_plausible(word, engine))
        if sum(char.isalnum() for word in words for char in word.text) >= 2:
            kept.append(Reading(words))
    return kept


def _is_plausible(word: Word, engine: Engine) -> bool:
    """Texture is often read as one or two characters, and seldom with much confidence."""
    letters = sum(3 if _HAN.match(char) else char.isalnum() for char in word.text)
    needed = engine.plausible if letters >= 3 else engine.sure
    return letters > 0 and 2 * letters >= len(word.text) and word.confidence >= needed


def _worth(lines: Iterable[Reading], engine: Engine) -> int:
    """Number of characters in sure words of three or more."""
    words = [word for line in lines for word in line.words if word.confidence >= engine.sure]
    return sum(len(word.text) for word in words if len(word.text) >= 3)


def _strips(lines: Sequence[TextLine], engine: Engine, lang: str, turned: int = 0) -> list[Reading]:
    words = engine.read_lines([line.strip for line in lines], lang)
    readings = _readings(words, lambda word: lines[word.page].on_image(word.box))
    return [_said_turned(line, turned) for line in readings]


def _scaled(box: Box, factor: float) -> Box:
    left, top, right, bottom = box
    return (left * factor, top * factor, right * factor, bottom * factor)


def _readings(words: Sequence[Word], place: Callable[[Word], Box]) -> list[Reading]:
    groups: defaultdict[tuple[int, ...], list[Word]] = defaultdict(list)
    for word in words:
        groups[(word.page, *word.line)].append(word)
    return [Reading(tuple(replace(word, box=place(word)) for word in group)) for group in groups.values()]


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box that holds them all."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return (min(left), min(top), max(right), max(bottom))


def turned_back(line: Reading, degrees: int, shape: tuple[int, ...]) -> Reading:
    """A line of `turn(grey, degrees)` in pixels of `grey`."""
    return _said_turned(replaced(line, lambda box: turned_box(box, degrees, shape)), degrees)


def replaced(line: Reading, place: Callable[[Box], Box]) -> Reading:
    """The line with each word's box put through `place`."""
    return Reading(tuple(replace(word, box=place(word.box)) for word in line.words))


def _said_turned(line: Reading, degrees: int) -> Reading:
    """The line as read after a further turn of the picture."""
    return Reading(tuple(replace(word, turned=(word.turned + degrees) % 360) for word in line.words))


def same_place(one: Box, other: Box) -> bool:
    """Whether the smaller box lies mostly in the larger one."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return across > 0 and down > 0 and across * down > 0.4 * smaller
