"""Finds lines of large characters in a photo and cuts them out level, upright and dark on light.

Tesseract reads such strips well and wide photos or text tilted over ~4 degrees badly. Characters are blobs
of an adaptive threshold, in both polarities and several sizes, chained to their nearest neighbour of like
height and brightness. Not found: joined handwriting, single characters, text tilted over ~35 degrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.reading.engine import Grey
from fieldmark.trace import Box

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]  # (2, 3), affine

CAP = 32
"""Height in px that characters are brought to; measured best for Tesseract 5 on level strips."""

_LOW, _HIGH = 8, 46  # heights of characters that one scale looks for
_THRESHOLDS = ((61, 9), (31, 25))  # window in px and contrast: for faint text, for strong text on texture
_SCALES = (1.0, 0.5, 0.25)
_WIDEST = 2.2  # times the height: two characters that touch
_MAX_BLOBS = 3000
_MAX_SLOPE = 0.75  # tan 37 degrees


@dataclass(frozen=True)
class TextLine:
    """A level strip of an image. `to_image` maps its pixels (x, y) back; `score` ranks lines."""

    strip: Grey
    to_image: Matrix
    score: float

    def upside_down(self) -> TextLine:
        """The same strip, turned by 180 degrees."""
        height, width = self.strip.shape
        linear, shift = self.to_image[:, :2], self.to_image[:, 2]
        to_image = np.column_stack([-linear, shift + linear @ np.array([width, height])])
        return TextLine(np.ascontiguousarray(self.strip[::-1, ::-1]), to_image, self.score)

    def on_image(self, box: Box) -> Box:
        """The upright box, in image pixels, around a box of the strip."""
        x0, y0, x1, y1 = box
        corners = np.array([[x0, y0, 1], [x1, y0, 1], [x1, y1, 1], [x0, y1, 1]], float) @ self.to_image.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        return (float(low[0]), float(low[1]), float(high[0]), float(high[1]))


@dataclass(frozen=True)
class _Blobs:
    """Character candidates: `box` (N, 4) left, top, width, height; `level` (N,) mean brightness."""

    box: Floats
    level: Floats


@dataclass(frozen=True)
class _Found:
    """A chain of characters as a turned rectangle in image pixels."""

    centre: tuple[float, float]
    width: float
    height: float
    angle: float  # degrees, clockwise positive as y points down
    dark: bool
    score: float


def find_lines(grey: Grey, limit: int) -> list[TextLine]:
    """The `limit` most text-like lines of an image, best first."""
    found: list[_Found] = []
    for scale in _SCALES:
        small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        if min(small.shape) < 2 * _LOW:
            break
        smooth = np.asarray(cv2.GaussianBlur(small, (3, 3), 0), np.uint8)
        for (window, contrast), dark in product(_THRESHOLDS, (True, False)):
            found += _chains(_blobs(smooth, dark, window, contrast), scale, dark)
    return [_cut(grey, line) for line in _distinct(found)[:limit]]


def _blobs(smooth: Grey, dark: bool, window: int, contrast: int) -> _Blobs:
    """Connected blobs with the height, shape and fill of a character."""
    mode = cv2.THRESH_BINARY_INV if dark else cv2.THRESH_BINARY
    offset = contrast if dark else -contrast
    binary = cv2.adaptiveThreshold(smooth, 255, cv2.ADAPTIVE_THRESH_MEAN_C, mode, window, offset)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(binary, connectivity=8)
    left, top, width, height, area = (stats[:, column].astype(np.float64) for column in range(5))
    good = (height >= _LOW) & (height <= _HIGH) & (width >= 2) & (width <= _WIDEST * height)
    fill = area / (width * height)
    good &= (fill > 0.15) & (fill < 0.97)
    good[0] = False
    sums = np.bincount(labels.ravel(), weights=smooth.ravel(), minlength=len(stats))
    kept = np.flatnonzero(good)
    kept = kept[np.argsort(-height[kept], kind="stable")[:_MAX_BLOBS]]
    box = np.stack([left, top, width, height], axis=1)[kept]
    return _Blobs(box, (sums / np.maximum(area, 1))[kept])


def _chains(blobs: _Blobs, scale: float, dark: bool) -> Iterator[_Found]:
    """Runs of blobs that are each other's nearest neighbour to the right and to the left."""
    if len(blobs.level) < 3:
        return
    cost = _link_cost(blobs)
    right, left = cost.argmin(axis=1), cost.argmin(axis=0)
    numbers = np.arange(len(right))
    linked = np.isfinite(cost[numbers, right]) & (left[right] == numbers)
    follows = np.zeros(len(right), bool)
    follows[right[linked]] = True
    for first in np.flatnonzero(linked & ~follows):
        chain = [int(first)]
        while linked[chain[-1]]:
            chain.append(int(right[chain[-1]]))
        if len(chain) >= 3:
            yield _line(blobs.box[chain], blobs.level[chain], scale, dark)


def _link_cost(blobs: _Blobs) -> Floats:
    """(N, N): how far blob j lies to the right of blob i, infinite where they cannot be neighbours."""
    left, top, width, height = blobs.box.T
    x, y = left + width / 2, top + height / 2
    dx, dy = x[None] - x[:, None], y[None] - y[:, None]
    tall = np.maximum(height[None], height[:, None])
    like = np.minimum(height[None], height[:, None]) > 0.66 * tall
    gap = dx - (width[None] + width[:, None]) / 2
    possible = like & (dx > 0.15 * tall) & (gap < 1.1 * tall) & (np.abs(dy) < _MAX_SLOPE * dx + 0.1 * tall)
    possible &= np.abs(blobs.level[None] - blobs.level[:, None]) < 45
    return np.where(possible, dx + 2 * np.abs(dy), np.inf)


def _line(box: Floats, level: Floats, scale: float, dark: bool) -> _Found:
    """The turned rectangle around a chain, in pixels of the unscaled image, and how text-like it is."""
    left, top, width, height = box.T
    x, y = left + width / 2, top + height / 2
    slope, offset = np.polyfit(x, y, 1)
    angle = float(np.degrees(np.arctan(slope)))
    cap = float(np.median(height))
    wander = float(np.abs(y - (slope * x + offset)).mean()) / cap
    evenness = float(height.std()) / cap + float(level.std()) / 60 + 3 * wander
    middle = (float((left[0] + (left + width)[-1]) / 2), 0.0)
    centre = (middle[0] / scale, (slope * middle[0] + offset) / scale)
    length = float((left + width)[-1] - left[0]) / np.cos(np.arctan(slope))
    score = min(len(box), 9) * np.exp(-1.5 * evenness) * min(1.0, cap / 14)
    return _Found(centre, length / scale, cap / scale, angle, dark, float(score))


def _distinct(found: list[_Found]) -> list[_Found]:
    """Best first, without those whose centre lies in a better one of like height."""
    kept: list[_Found] = []
    for line in sorted(found, key=lambda item: -item.score):
        if not any(_same(line, other) for other in kept):
            kept.append(line)
    return kept


def _same(line: _Found, other: _Found) -> bool:
    dx, dy = line.centre[0] - other.centre[0], line.centre[1] - other.centre[1]
    cos, sin = np.cos(np.radians(other.angle)), np.sin(np.radians(other.angle))
    along, across = abs(dx * cos + dy * sin), abs(dy * cos - dx * sin)
    return bool(along < other.width / 2 and across < other.height / 2 and line.dark == other.dark)


def _cut(grey: Grey, line: _Found) -> TextLine:
    """The strip around a line: level, caps CAP px high, most of a character's width added at both ends."""
    zoom = CAP / line.height
    size = (int((line.width + 1.6 * line.height) * zoom), int(2.0 * line.height * zoom))
    cos, sin = np.cos(np.radians(line.angle)) / zoom, np.sin(np.radians(line.angle)) / zoom
    linear = np.array([[cos, -sin], [sin, cos]])
    shift = np.array(line.centre) - linear @ np.array([size[0] / 2, size[1] / 2])
    to_image = np.column_stack([linear, shift])
    flags = (cv2.INTER_AREA if zoom < 0.5 else cv2.INTER_CUBIC) | cv2.WARP_INVERSE_MAP
    strip = cv2.warpAffine(grey, to_image, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return TextLine(_levelled(strip, line.dark), to_image, line.score)


def _levelled(strip: Any, dark: bool) -> Grey:
    """Dark on light, contrast stretched to the whole range."""
    values = strip if dark else 255 - strip
    low, high = np.percentile(values, (2, 98))
    stretched = (values.astype(np.float32) - low) * (255 / max(float(high - low), 16.0))
    return np.asarray(stretched.clip(0, 255), np.uint8)
