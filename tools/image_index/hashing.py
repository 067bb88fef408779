"""A perceptual hash of 256 bits that knows its turns and mirror images, after PDQ and pHash."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

SAME_BITS = 31
"""Up to so many differing bits of 256 two pictures are the same (as in PDQ)."""

_SIDE = 16
_FLAT = 2.0

Hash = NDArray[np.uint64]
"""(4,) 64 bits each. All zero: too flat to say anything."""


def picture_hash(grey: NDArray[np.uint8]) -> Hash:
    """Signs of the lowest frequencies of an (H, W) picture, squeezed to a square."""
    small = cv2.resize(cv2.GaussianBlur(grey, (0, 0), 2), (64, 64), interpolation=cv2.INTER_AREA)
    low = cv2.dct(small.astype(np.float32))[1 : _SIDE + 1, 1 : _SIDE + 1]
    if float(np.sqrt(np.mean(low**2))) < _FLAT:
        return np.zeros(4, np.uint64)
    return _packed(low > 0)


def turned(one: Hash) -> NDArray[np.uint64]:
    """(8, 4) the hashes of a picture's four quarter turns and their mirror images, itself first.

    Mirroring changes the sign of every odd frequency, transposing swaps the two axes: no pixel is needed.
    """
    bits = np.unpackbits(one.view(np.uint8)).reshape(_SIDE, _SIDE).astype(bool)
    odd = np.arange(1, _SIDE + 1) % 2 == 1
    across, down = odd[None, :], odd[:, None]
    upright = [bits, bits ^ across, bits ^ down, bits ^ across ^ down]
    return np.stack([_packed(item) for item in (*upright, *(item.T for item in upright))])


def distance(one: Hash, other: Hash) -> int:
    """Differing bits of two pictures, the least over all turns; 256 where one is flat."""
    if not one.any() or not other.any():
        return _SIDE**2
    return int(np.bitwise_count(turned(one) ^ other).sum(axis=1).min())


def _packed(bits: NDArray[Any]) -> Hash:
    return np.packbits(bits.ravel()).view(np.uint64)
