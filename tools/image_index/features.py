"""What a picture is compared by: SIFT key points, a global look and a perceptual hash."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fieldmark.tools.image_index.framed import pictures_in_page
from fieldmark.tools.image_index.hashing import Hash, picture_hash
from fieldmark.tools.image_index.look import look
from fieldmark.tools.pictures.upright import open_upright

SIDE, POINTS = 640, 1000
"""A picture of an index is described at this longer side (px), by so many key points at most."""

QUERY_SIDE, QUERY_POINTS = 1000, 2000
"""A query keeps its size between SIDE and this."""

_CELLS = 4
_CONTRAST, _FAINT, _FEW = 0.02, 0.004, 300
"""Contrast from which a point counts; the same for a blurred, dark or even picture that has fewer points."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Features:
    """`size` (width, height) in px as given; `points` (N, 2) x, y in those px, the best of each part of the
    picture first; `descriptors` (N, 128) RootSIFT of unit length; `look` unit length; `hash` 256 bits.
    """

    size: tuple[int, int]
    points: Floats
    descriptors: Floats
    look: Floats
    hash: Hash


def describe(data: bytes) -> Features:
    """The features of a picture file. DataFault: unreadable."""
    image = open_upright(data)
    return _of_page(image) or _whole(image)


def _whole(image: Image.Image) -> Features:
    rgb = _scaled(image, SIDE)
    return _features(image.size, rgb, rgb, POINTS)


def _of_page(image: Image.Image) -> Features | None:
    """A screenshot of a page is described by its largest picture, which its text would drown; its hash alone
    is of the whole. None: no page.
    """
    box = next(iter(pictures_in_page(image)), None)
    if box is None:
        return None
    left, top, right, bottom = map(round, box)
    shown = _whole(image.crop((left, top, right, bottom)))
    points = shown.points + np.array([left, top], np.float32)
    return replace(shown, size=image.size, points=points, hash=picture_hash(_grey(_scaled(image, SIDE))))


def look_of(image: Image.Image) -> Floats:
    """The global look alone of a decoded picture, of any mode: comparable with `describe(…).look`."""
    return look(_scaled(image.convert("RGB"), SIDE))


def describe_both(data: bytes) -> tuple[Features, Features]:
    """The features of a query and of its mirror image, with more key points, for what is searched for may be
    a small part of it. DataFault: unreadable.
    """
    return describe_both_of(open_upright(data))


def describe_both_of(image: Image.Image) -> tuple[Features, Features]:
    """As `describe_both`, of a decoded RGB picture."""
    rgb = _scaled(image, SIDE)
    fine = _scaled(image, min(QUERY_SIDE, max(image.size))) if max(image.size) > SIDE else rgb
    upright = _features(image.size, rgb, fine, QUERY_POINTS)
    mirrored = replace(
        upright,
        points=np.stack([image.width - upright.points[:, 0], upright.points[:, 1]], axis=1),
        descriptors=upright.descriptors[:, _MIRRORED],
        look=look(np.ascontiguousarray(rgb[:, ::-1])),
    )
    return upright, mirrored


def _scaled(image: Image.Image, side: int) -> NDArray[np.uint8]:
    """(H, W, 3), the longer side `side` px."""
    factor = side / max(image.size)
    size = (max(8, round(image.width * factor)), max(8, round(image.height * factor)))
    return np.asarray(image.resize(size), np.uint8)


def _features(size: tuple[int, int], rgb: NDArray[np.uint8], fine: NDArray[np.uint8], count: int) -> Features:
    points, raw = _sift(_grey(fine), count, _CONTRAST)
    if len(points) < _FEW:
        points, raw = _sift(_grey(fine), count, _FAINT)
    factor = np.float32(max(size) / max(fine.shape))
    return Features(size, points * factor, _root(raw), look(rgb), picture_hash(_grey(rgb)))


def _grey(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8)


def _sift(grey: NDArray[np.uint8], count: int, contrast: float) -> tuple[Floats, Floats]:
    """Up to `count` places (x, y) in px and SIFT descriptors."""
    points, descriptors = cv2.SIFT.create(nfeatures=count, contrastThreshold=contrast).detectAndCompute(
        grey, None
    )  # type: ignore[arg-type,call-overload,unused-ignore]
    if descriptors is None or not len(points):
        return np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    places = np.array([point.pt for point in points], np.float32)
    order = _spread(places, np.array([point.response for point in points]), grey.shape)[:count]
    return places[order], np.asarray(descriptors, np.float32)[order]


def _spread(places: Floats, responses: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The order in which each cell of a grid gives its strongest point, then each its second, and so on:
    a part of the picture then still has its share of the first points.
    """
    cells = (places / np.array([shape[1], shape[0]]) * _CELLS).astype(int).clip(0, _CELLS - 1)
    cell = cells[:, 1] * _CELLS + cells[:, 0]
    order = np.lexsort((-responses, cell))
    firsts = np.searchsorted(cell[order], cell[order])
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order)) - firsts
    return np.lexsort((-responses, turn))


def _root(raw: Floats) -> Floats:
    """RootSIFT: compares better under Euclidean distance than SIFT itself (Arandjelovic & Zisserman 2012)."""
    sums = np.maximum(raw.sum(axis=1, keepdims=True), 1e-6)
    return np.asarray(np.sqrt(raw / sums), np.float32)


def _mirrored() -> NDArray[np.int64]:
    """Where each of the 128 values stands in the mirror image: a descriptor is 4 x 4 cells of 8 directions,
    turned to the point's own direction, so its rows change places and its directions their sense.
    """
    values = np.arange(128).reshape(4, 4, 8)[::-1]
    return values[:, :, (-np.arange(8)) % 8].ravel()


_MIRRORED = _mirrored()
