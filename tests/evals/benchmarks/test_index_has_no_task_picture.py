"""No picture of the index is a task's own picture: not copied, cut, scaled, mirrored nor recompressed.

A second view of the same subject is wanted and must pass: SIFT finds the best plane mapping of the one onto
the other, and what is left is the difference of the pixels. Copies stay below 0.2 standard deviations, the
nearest second view (Leuven) is at 0.27.
"""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from fieldmark.evals.benchmarks import load_benchmark

SIDE = 400
SAME = 0.23
INLIERS = 10
Grey = NDArray[np.uint8]


class Look(NamedTuple):
    grey: Grey
    points: NDArray[np.float32]
    features: NDArray[np.float32]


def look(picture: Image.Image) -> Look:
    small = picture.convert("L")
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    grey = np.asarray(small)
    found, features = cv2.SIFT.create(800).detectAndCompute(grey, None)
    return Look(grey, np.array([key.pt for key in found], np.float32), np.asarray(features, np.float32))


def difference(one: Look, other: Look) -> float:
    """How far `one`, mapped onto `other`, is from it, in standard deviations; 9 where nothing maps."""
    pairs = cv2.BFMatcher().knnMatch(one.features, other.features, 2)
    good = [near for near, next_near in pairs if near.distance < 0.75 * next_near.distance]
    if len(good) < INLIERS:
        return 9.0
    start = np.array([one.points[match.queryIdx] for match in good])
    end = np.array([other.points[match.trainIdx] for match in good])
    plane, inliers = cv2.findHomography(start, end, cv2.RANSAC, 2.0)
    if plane is None or int(inliers.sum()) < INLIERS:
        return 9.0
    return _remainder(one.grey, other.grey, np.asarray(plane))


def _remainder(one: Grey, other: Grey, plane: NDArray[np.float64]) -> float:
    size = (other.shape[1], other.shape[0])
    mapped = np.asarray(cv2.warpPerspective(one, plane, size))
    inside = cv2.warpPerspective(np.full_like(one, 255), plane, size)
    shared = np.asarray(cv2.erode(inside, np.ones((5, 5), np.uint8))) > 250
    if shared.mean() < 0.05:
        return 9.0
    return float(np.abs(_standard(mapped[shared]) - _standard(other[shared])).mean())


def _standard(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray((values - values.mean()) / (values.std() + 1e-6), np.float64)


def fingerprint(picture: Image.Image) -> NDArray[np.bool_]:
    """A difference hash of 256 bits."""
    tiny = np.asarray(picture.convert("L").resize((17, 16), Image.Resampling.LANCZOS), int)
    return tiny[:, 1:] > tiny[:, :-1]


def pictures() -> tuple[list[Path], list[Path]]:
    mini = load_benchmark("fieldmark-mini")
    assert mini.index is not None
    return sorted({task.image for task in mini.tasks}), sorted(mini.index.glob("x*"))


def test_no_file_is_in_both() -> None:
    tasks, index = pictures()
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in [*tasks, *index]]
    assert len(set(digests)) == len(digests)


def test_no_fingerprint_is_in_both() -> None:
    tasks, index = pictures()
    own = [(path.name, fingerprint(Image.open(path))) for path in tasks]
    for path in index:
        picture = Image.open(path)
        for turned in (picture, picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)):
            found = fingerprint(turned)
            near = [name for name, bits in own if int((bits != found).sum()) <= 26]
            assert near == [], path.name


def test_no_cut_is_in_both() -> None:
    tasks, index = pictures()
    looks = [(path, look(Image.open(path))) for path in tasks]
    for name in index:
        candidate = look(Image.open(name))
        for path, own in looks:
            assert difference(own, candidate) > SAME, (path.name, name.name)


@pytest.mark.parametrize("number", [0, 10, 20])
def test_the_check_sees_a_recompressed_cut(number: int) -> None:
    picture = Image.open(pictures()[0][number]).convert("RGB")
    width, height = picture.size
    cut = BytesIO()
    picture.crop((width // 8, height // 10, width * 9 // 10, height * 4 // 5)).save(cut, "JPEG", quality=50)
    assert difference(look(picture), look(Image.open(cut))) < SAME
