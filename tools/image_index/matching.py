"""Is the same object or scene in two pictures? Key points matched, then checked by geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.image_index.features import Features
from fieldmark.trace import Box

MIN_INLIERS = 12
"""Fewer agreeing key points come about by chance (none among 33 unrelated photos)."""

_RATIO = 0.8
_TOLERANCE = 0.012  # of the picture's longer side


@dataclass(frozen=True)
class Match:
    """`region`: the part of the query, in its px, in which the `inliers` lie."""

    inliers: int
    region: Box


def match(query: Features, other: Features) -> Match | None:
    """A verified match of two pictures, or None."""
    paired = pairs(query, other)
    if len(paired) < MIN_INLIERS:
        return None
    here, there = query.points[paired[:, 0]], other.points[paired[:, 1]]
    # cv2's random sampling starts from the same seed in every call: results repeat
    tolerance = _TOLERANCE * max(other.size)
    plane, mask = cv2.findHomography(here, there, cv2.USAC_MAGSAC, tolerance, None, 2000, 0.999)
    if plane is None or not _is_sane(plane, query.size):
        return None
    inside = here[mask.ravel().astype(bool)]
    if len(np.unique(inside.round(), axis=0)) < MIN_INLIERS:
        return None
    low, high = inside.min(axis=0), inside.max(axis=0)
    region: Box = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
    return Match(len(inside), region)


def match_score(inliers: int) -> float:
    """0.5 (just verified) to 1."""
    return 0.5 + 0.5 * (1 - math.exp(-(inliers - MIN_INLIERS + 1) / 30))


def pairs(query: Features, other: Features) -> NDArray[np.int64]:
    """(N, 2) numbers of key points that are each other's best, clearly before the second best."""
    if len(query.descriptors) < 2 or len(other.descriptors) < 2:
        return np.zeros((0, 2), np.int64)
    likeness = query.descriptors @ other.descriptors.T
    rows = np.arange(len(likeness))
    best = likeness.argmax(axis=1)
    first = likeness[rows, best]
    likeness[rows, best] = -1
    second = likeness.max(axis=1)
    clear = np.flatnonzero(_distance(first) < _RATIO * _distance(second))
    # only what is clear is asked back: few rows, where a search down all columns took most of the time
    back = (other.descriptors[best[clear]] @ query.descriptors.T).argmax(axis=1)
    kept = clear[back == clear]
    return np.stack([kept, best[kept]], axis=1)


def _distance(cosine: NDArray[np.float32]) -> NDArray[np.float32]:
    """Euclidean distance of unit vectors."""
    return np.asarray(np.sqrt(np.maximum(2 - 2 * cosine, 0)))


def _is_sane(plane: NDArray[Any], size: tuple[int, int]) -> bool:
    """The query's frame stays convex, unmirrored and of a possible size on the other picture."""
    width, height = size
    frame = np.array([[[0, 0]], [[width, 0]], [[width, height]], [[0, height]]], np.float32)
    try:
        corners = cv2.perspectiveTransform(frame, plane).reshape(4, 2)
    except cv2.error:
        return False
    sides = np.roll(corners, -1, axis=0) - corners
    following = np.roll(sides, -1, axis=0)
    turns = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    area = abs(float(cv2.contourArea(corners.astype(np.float32))))
    return bool(np.all(turns > 0)) and 1e-4 < area / (width * height) < 1e4
