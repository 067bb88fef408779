"""What a picture is compared by: SIFT key points, a global look and a perceptual hash, cached on disk."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.pictures.upright import open_upright

_VERSION = 1
_SIDE = 640
_POINTS = 1000
_HASH_SIDE = 16

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Features:
    """`size` (width, height) in px as given; `points` (N, 2) x, y in those px, strongest first;
    `descriptors` (N, 128) RootSIFT of unit length; `look` (D,) unit length; `bits` (256,) perceptual hash.
    """

    size: tuple[int, int]
    points: Floats
    descriptors: Floats
    look: Floats
    bits: NDArray[np.bool_]


def describe(data: bytes) -> Features:
    """Compute the features of a picture file. DataFault: unreadable."""
    image = open_upright(data)
    factor = _SIDE / max(image.size)
    side = (max(8, round(image.width * factor)), max(8, round(image.height * factor)))
    rgb = np.asarray(image.resize(side), np.uint8)
    grey = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8)
    points, raw = _sift(grey)
    return Features(image.size, points / np.float32(factor), _root(raw), _look(rgb, grey), _bits(grey))


def cached_features(data: bytes) -> Features:
    """As `describe`, from $XDG_CACHE_HOME/fieldmark when it is there. Safe with several processes at once."""
    path = _cache() / f"{hashlib.sha256(data).hexdigest()}-v{_VERSION}.npz"
    try:
        return _load(path)
    except Exception:  # absent, cut short or damaged: numpy raises many kinds; all are cured by rebuilding
        features = describe(data)
    _save(path, features)
    return features


def distance(one: Features, other: Features) -> int:
    """Differing bits of the perceptual hashes, of 256; up to 31 the pictures are the same (as in PDQ)."""
    return int(np.count_nonzero(one.bits != other.bits))


def _sift(grey: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    points, descriptors = cv2.SIFT.create(nfeatures=_POINTS, contrastThreshold=0.02).detectAndCompute(
        grey, None
    )  # type: ignore[arg-type,call-overload,unused-ignore]
    if descriptors is None or not len(points):
        return np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    order = np.argsort([-point.response for point in points], kind="stable")[:_POINTS]
    places = np.array([points[int(number)].pt for number in order], np.float32)
    return places, np.asarray(descriptors, np.float32)[order]


def _root(raw: Floats) -> Floats:
    """RootSIFT: compares better under Euclidean distance than SIFT itself (Arandjelovic & Zisserman 2012)."""
    sums = np.maximum(raw.sum(axis=1, keepdims=True), 1e-6)
    return np.asarray(np.sqrt(raw / sums), np.float32)


def _look(rgb: NDArray[np.uint8], grey: NDArray[np.uint8]) -> Floats:
    """Colour layout (6 x 6 Lab) beside edge directions (8 in each of 4 x 4 cells), each centred and unit."""
    lab = cv2.cvtColor(cv2.resize(rgb, (6, 6), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2LAB)
    return np.concatenate([_unit(lab.astype(np.float32)), _unit(_edges(grey))]) * np.float32(0.5**0.5)


def _edges(grey: NDArray[np.uint8]) -> Floats:
    small = cv2.resize(grey, (128, 128), interpolation=cv2.INTER_AREA).astype(np.float32)
    across, down = cv2.Sobel(small, cv2.CV_32F, 1, 0), cv2.Sobel(small, cv2.CV_32F, 0, 1)
    strength = np.sqrt(across**2 + down**2)
    direction = ((np.arctan2(down, across) % np.pi) / np.pi * 8).astype(int) % 8
    cell = (np.arange(128) // 32)[:, None] * 4 + (np.arange(128) // 32)[None]
    sums = np.bincount((cell * 8 + direction).ravel(), weights=strength.ravel(), minlength=128)
    return np.sqrt(sums).astype(np.float32)


def _unit(values: Any) -> Floats:
    flat = np.asarray(values, np.float32).ravel()
    flat = flat - flat.mean()
    return np.asarray(flat / max(float(np.linalg.norm(flat)), 1e-6), np.float32)


def _bits(grey: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Signs of the lowest frequencies against their median, the idea of PDQ and pHash."""
    small = cv2.resize(cv2.GaussianBlur(grey, (0, 0), 2), (64, 64), interpolation=cv2.INTER_AREA)
    low = cv2.dct(small.astype(np.float32))[1 : _HASH_SIDE + 1, 1 : _HASH_SIDE + 1]
    return np.asarray(low > np.median(low), bool).ravel()


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fieldmark" / "features"


def _load(path: Path) -> Features:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
        width, height = (int(value) for value in file["size"])
        descriptors = file["descriptors"].astype(np.float32)
        points = file["points"]
        if points.shape != (len(descriptors), 2) or file["bits"].shape != (_HASH_SIDE**2,):
            raise ValueError("not features of this version")
        return Features((width, height), points, descriptors, file["look"], file["bits"])


def _save(path: Path, features: Features) -> None:
    """Write beside and rename, so that no process reads half a file. A full disk is no fault."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
            np.savez(
                file,
                size=np.array(features.size),
                points=features.points,
                descriptors=features.descriptors.astype(np.float16),
                look=features.look,
                bits=features.bits,
            )
        Path(file.name).replace(path)
    except OSError:
        return
