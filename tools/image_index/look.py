"""The global look of a picture as one vector. A learned embedding would take this file's place."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

LOOK = "layout-236"
"""Names the vectors of an index: those of another name cannot be compared and are made anew."""

LENGTH = 236

Floats = NDArray[np.float32]


def look(rgb: NDArray[np.uint8]) -> Floats:
    """(236,) unit length, of an (H, W, 3) picture: colour layout (6 x 6 Lab) beside edge directions
    (8 in each of 4 x 4 cells).
    """
    lab = cv2.cvtColor(cv2.resize(rgb, (6, 6), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2LAB)
    grey = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8)
    return np.concatenate([_unit(lab.astype(np.float32)), _unit(_edges(grey))]) * np.float32(0.5**0.5)


def sketch(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """(N, 4) the signs of the first 256 values of vectors as bits: near vectors differ in few."""
    signs = np.zeros((len(vectors), 256), bool)
    signs[:, : vectors.shape[1]] = vectors[:, :256] > 0
    return np.packbits(signs, axis=1).view(np.uint64)


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
