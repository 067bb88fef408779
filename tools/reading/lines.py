"""Reads text in a grey image: over the whole page, and line by line where a photo tilts or dwarfs it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import cv2
import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.reading import tesseract
from fieldmark.tools.reading.tesseract import Word
from fieldmark.tools.reading.text_lines import TextLine, find_lines
from fieldmark.trace import Box

Grey = NDArray[np.uint8]  # (H, W)

SURE = 0.8
PLAUSIBLE = 0.5
"""Confidences of words: worth stopping for, and worth telling."""

_HAN = re.compile(r"[\u2e80-\u9fff]")
_BETWEEN_HAN = re.compile(rf"(?<={_HAN.pattern}) (?={_HAN.pattern})")
_STRIPS = 16
_NOISE_SIGMA = 1.2
_GRAIN = 4.0  # grey levels
_ENOUGH = 3
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


def read_strips(grey: Grey, lang: str, *, smooth: bool = False) -> list[Reading]:
    """Lines of large characters, tilted or not; `smooth` helps against heavy noise."""
    return _strips(find_lines(grey, _STRIPS), lang, smooth)


def read_turned_strips(grey: Grey, lang: str) -> Iterator[tuple[int, list[Reading]]]:
    """(degrees, lines as `read_strips`) of the image turned clockwise by 180, 90 and 270 degrees."""
    lines = find_lines(grey, _STRIPS)
    yield 180, _strips([line.upside_down() for line in lines], lang)
    lines = find_lines(turn(grey, 90), _STRIPS)
    for degrees, strips in ((90, lines), (270, [line.upside_down() for line in lines])):
        yield degrees, [turned_back(line, 90, grey.shape) for line in _strips(strips, lang)]


def read_page(grey: Grey, lang: str, shrink: float = 1.0) -> list[Reading]:
    """Whatever stands level on the page, as sparse text; `shrink` below 1 suits letters over ~120 px."""
    page = cv2.resize(_denoised(grey), None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
    words = tesseract.read_words([np.asarray(page, np.uint8)], lang=lang, psm=tesseract.SPARSE)
    return _readings(words, lambda word: _scaled(word.box, 1 / shrink))


def read_text(grey: Grey, lang: str) -> tuple[list[Reading], int]:
    """The plausible lines, and by how many degrees clockwise the picture was turned to read them.

    It is turned only when the upright picture gives nothing sure: upside down, nonsense reads well, too.
    """
    upright = _both(grey, lang)
    best, turned = max(_worth(upright), _ENOUGH - 1), 0
    if best >= _ENOUGH:
        return upright, 0
    for degrees, lines in read_turned_strips(grey, lang):
        if _worth(lines) > best:
            best, turned = _worth(lines), degrees
    if not turned:
        return upright, 0
    lines = _both(turn(grey, turned), lang)
    return [turned_back(line, turned, grey.shape) for line in lines], turned


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


def _both(grey: Grey, lang: str) -> list[Reading]:
    """Page and strips together; where both read the same place the surer one stays."""
    lines = plausible(chain(read_page(grey, lang), read_strips(grey, lang)))
    lines = lines or plausible(read_page(grey, lang, _SHRINK))
    kept: list[Reading] = []
    for line in sorted(lines, key=lambda item: -item.confidence * min(len(item.text), 8)):
        if not any(same_place(line.box, other.box) for other in kept):
            kept.append(line)
    return sorted(kept, key=lambda item: (item.box[1], item.box[0]))


def plausible(lines: Iterable[Reading]) -> list[Reading]:
    """The lines without the scraps that texture is often read as."""
    kept = []
    for line in lines:
        words = tuple(word for word in line.words if _is_plausible(word))
        if sum(char.isalnum() for word in words for char in word.text) >= 2:
            kept.append(Reading(words))
    return kept


def _is_plausible(word: Word) -> bool:
    """Texture is often read as one or two characters, and seldom with much confidence."""
    letters = sum(3 if _HAN.match(char) else char.isalnum() for char in word.text)
    needed = PLAUSIBLE if letters >= 3 else SURE
    return letters > 0 and 2 * letters >= len(word.text) and word.confidence >= needed


def _worth(lines: Iterable[Reading]) -> int:
    """Number of characters in sure words of three or more."""
    words = [word for line in lines for word in line.words if word.confidence >= SURE]
    return sum(len(word.text) for word in words if len(word.text) >= 3)


def _strips(lines: Sequence[TextLine], lang: str, smooth: bool = False) -> list[Reading]:
    strips = [_smoothed(line.strip) if smooth else line.strip for line in lines]
    words = tesseract.read_words(strips, lang=lang, psm=tesseract.LEVEL_LINE)
    return _readings(words, lambda word: _mapped(word, lines[word.page]))


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


def _mapped(word: Word, line: TextLine) -> Box:
    """The upright box, in image pixels, around a word of a turned strip."""
    x0, y0, x1, y1 = word.box
    corners = np.array([[x0, y0, 1], [x1, y0, 1], [x1, y1, 1], [x0, y1, 1]], float) @ line.to_image.T
    low, high = corners.min(axis=0), corners.max(axis=0)
    return (float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def turned_back(line: Reading, degrees: int, shape: tuple[int, ...]) -> Reading:
    """A line of `turn(grey, degrees)` in pixels of `grey`."""
    return replaced(line, lambda box: turned_box(box, degrees, shape))


def replaced(line: Reading, place: Callable[[Box], Box]) -> Reading:
    """The line with each word's box put through `place`."""
    return Reading(tuple(replace(word, box=place(word.box)) for word in line.words))


def same_place(one: Box, other: Box) -> bool:
    """Whether the smaller box lies mostly in the larger one."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return across > 0 and down > 0 and across * down > 0.4 * smaller


def _smoothed(grey: Grey) -> Grey:
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), _NOISE_SIGMA), np.uint8)


def _denoised(grey: Grey) -> Grey:
    """Smoothed where grain is strong: Tesseract would spend seconds on it, reading each speck."""
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)  # Immerkaer's noise estimate, 1996
    grain = float(np.abs(cv2.filter2D(grey, cv2.CV_32F, kernel)).mean()) * (np.pi / 2) ** 0.5 / 6
    return _smoothed(grey) if grain > _GRAIN else grey
