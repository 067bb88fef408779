"""Where one picture lies in another, and how well the pixels there agree.

Key points that agree in their geometry show the same object; another photo of it has them too. A copy is
told by its pixels: laid over the picture, most of its parts correlate. Correlation part by part forgives what
copies do to pictures: other colours, compression, a caption over a part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.image_index.features import Features
from fieldmark.tools.image_index.matching import pairs
from fieldmark.trace import Box

MIN_PAIRS = 6
"""Key points that must agree before pixels are compared: an affine map takes three."""
_SIDE = 384
"""Longer side, in px, at which pixels are compared."""
_BLOCK = 24
_MIN_BLOCKS = 8
_TEXTURE = 3.0
"""Standard deviation (of 0 to 255) under which a part is flat and says nothing."""
_SCALES = (0.04, 25.0)
_STRETCH = 2.0

Grey = NDArray[np.uint8]
Matrix = NDArray[np.float64]
"""(2, 3), affine."""


@dataclass(frozen=True)
class Alignment:
    """`matrix` maps px of ours to px of the other picture. `agreement` (-1 to 1) is the median correlation of
    the parts that both show; `inliers` the key points that agree.
    """

    matrix: Matrix
    inliers: int
    agreement: float
    own: Box
    region: Box


def align(ours: Features, theirs: Features, own: Grey, other: Grey, *, mirrored: bool) -> Alignment | None:
    """None: too few key points agree. `ours` is of the mirror image where `mirrored`; `own` and `other` are
    the pictures (H, W) at any size, `own` never mirrored.
    """
    found = pairs(ours, theirs)
    if len(found) < MIN_PAIRS:
        return None
    here, there = ours.points[found[:, 0]], theirs.points[found[:, 1]]
    # cv2's random sampling starts from the same seed in every call: results repeat
    tolerance = 0.008 * max(theirs.size)
    matrix, mask = cv2.estimateAffine2D(
        here, there, method=cv2.USAC_MAGSAC, ransacReprojThreshold=tolerance, maxIters=2000, confidence=0.999
    )
    if matrix is None or not _is_sane(matrix) or int(mask.sum()) < MIN_PAIRS:
        return None
    whole = np.asarray(matrix, np.float64)
    if mirrored:
        whole = whole @ np.array([[-1.0, 0, ours.size[0]], [0, 1, 0], [0, 0, 1]])
    agreement = _agreement(own, other, whole, ours.size, theirs.size)
    own_box, region = _boxes(whole, ours.size, theirs.size)
    return Alignment(whole, int(mask.sum()), agreement, own_box, region)


def _is_sane(matrix: Any) -> bool:
    """A possible size, and no axis much more shrunk than the other."""
    if not np.isfinite(matrix).all() or np.linalg.det(matrix[:, :2]) <= 0:
        return False
    large, small = np.linalg.svd(matrix[:, :2], compute_uv=False)
    return bool(_SCALES[0] < small and large < _SCALES[1] and large / small < _STRETCH)


def _agreement(
    own: Grey, other: Grey, matrix: Matrix, size: tuple[int, int], their_size: tuple[int, int]
) -> float:
    """The median over the textured parts that both pictures show; 0 where these are too few."""
    here = _scaling(_SIDE / max(size))
    there = _scaling(max(other.shape) / max(their_size))
    small = cv2.resize(own, _round(here, size), interpolation=cv2.INTER_AREA)
    inner = (there @ _square(matrix) @ np.linalg.inv(here))[:2]
    scale = float(np.sqrt(abs(np.linalg.det(inner[:, :2]))))
    if scale > 1:  # shrunk, not sampled: else fine detail would be noise
        other = np.asarray(cv2.GaussianBlur(other, (0, 0), 0.5 * scale), np.uint8)
    shape = (small.shape[1], small.shape[0])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    laid = cv2.warpAffine(other, inner, shape, flags=flags)
    inside = cv2.warpAffine(np.full_like(other, 255), inner, shape, flags=flags) > 250
    a, b = (cv2.GaussianBlur(one, (0, 0), 1.5).astype(np.float32) for one in (small, laid))
    values = [
        value
        for y in range(0, a.shape[0] - _BLOCK + 1, _BLOCK)
        for x in range(0, a.shape[1] - _BLOCK + 1, _BLOCK)
        if (part := np.s_[y : y + _BLOCK, x : x + _BLOCK]) and inside[part].all()
        if (value := _correlation(a[part], b[part])) is not None
    ]
    return float(np.median(values)) if len(values) >= _MIN_BLOCKS else 0.0


def _correlation(one: NDArray[np.float32], two: NDArray[np.float32]) -> float | None:
    """None: the part of ours is flat."""
    a, b = one - one.mean(), two - two.mean()
    if a.std() < _TEXTURE:
        return None
    return float((a * b).mean() / max(float(a.std() * b.std()), 1e-3))


def _boxes(matrix: Matrix, size: tuple[int, int], their_size: tuple[int, int]) -> tuple[Box, Box]:
    """The part of ours that the other shows, and where that is in the other: in px of each."""
    back = np.asarray(np.linalg.inv(_square(matrix))[:2], np.float64)
    return _cut(_frame(back, their_size), size), _cut(_frame(matrix, size), their_size)


def _frame(matrix: Matrix, size: tuple[int, int]) -> Matrix:
    """(4, 2) the corners of a picture of that size, mapped."""
    width, height = size
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]], np.float64)
    return np.asarray(corners @ matrix.T)


def _cut(corners: Matrix, size: tuple[int, int]) -> Box:
    low, high = corners.min(axis=0), corners.max(axis=0)
    left, top = (max(0.0, float(value)) for value in low)
    right, bottom = (min(float(most), float(value)) for most, value in zip(size, high, strict=True))
    return (left, top, max(left, right), max(top, bottom))


def _square(matrix: Matrix) -> Matrix:
    return np.vstack([matrix, [0, 0, 1]])


def _scaling(factor: float) -> Matrix:
    return np.diag([factor, factor, 1.0])


def _round(scaling: Matrix, size: tuple[int, int]) -> tuple[int, int]:
    return max(1, round(size[0] * scaling[0, 0])), max(1, round(size[1] * scaling[0, 0]))
