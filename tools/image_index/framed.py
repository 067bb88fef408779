"""The pictures in a screenshot of a page: what such a page is about, between its text and its ground."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

from fieldmark.trace import Box

_SIDE = 1280
"""Longer side, in px, at which a page is looked at."""
_GROUND, _APART = 0.25, 24
"""A page has one ground colour on so much of it; what differs by so much in a channel is not ground."""
_SPECK, _SPECKS = 400, 60
"""Letters are pieces of so many px at most, and a page has so many."""
_AREA, _FILLED, _ASPECT = 0.02, 0.6, 4.0
"""Share of the page, share of its own box that is not ground, and longer by shorter side of a picture."""


def pictures_in_page(image: Image.Image) -> list[Box]:
    """The boxes (x0, y0, x1, y1) of its pictures in px of `image` (RGB), the largest first; none where it is
    no page: no ground of one colour, or no text.
    """
    factor = min(1.0, _SIDE / max(image.size))
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    rgb = np.asarray(image.resize(size), np.uint8)
    codes = (rgb >> 3).astype(np.int32) @ np.array([1024, 32, 1], np.int32)
    counts = np.bincount(codes.ravel())
    if counts.max() < _GROUND * codes.size:
        return []
    ground = rgb[codes == counts.argmax()].mean(axis=0)
    apart = (np.abs(rgb - ground).max(axis=2) > _APART).astype(np.uint8)
    _, _, pieces, _ = cv2.connectedComponentsWithStats(apart, connectivity=4)
    x, y, width, height, area = pieces[1:].T
    if np.count_nonzero(area <= _SPECK) < _SPECKS:
        return []
    boxes = width * height
    long, short = np.maximum(width, height), np.minimum(width, height)
    is_picture = (boxes >= _AREA * codes.size) & (area >= _FILLED * boxes) & (long <= _ASPECT * short)
    found = sorted(np.flatnonzero(is_picture).tolist(), key=lambda at: -int(boxes[at]))
    corners = np.stack([x, y, x + width, y + height], axis=1)[found] / factor
    return [(left, top, right, bottom) for left, top, right, bottom in corners.tolist()]
