"""Whether a file is the task picture, written anew or made smaller; run in a worker process."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from fieldmark.errors import EpisodeFault
from fieldmark.tools.image_index.hashing import SAME_BITS, distance, picture_hash
from fieldmark.tools.pictures.upright import open_upright

_SIDE = 256
_FLAT_LEVELS = 6.0
"""Mean difference, in levels of 0-255, up to which two pictures too flat for a hash are the same."""


def same_view(view: bytes, other: bytes) -> bool:
    """By perceptual hash; two pictures too flat to have one by their colours. False: unreadable."""
    try:
        one, two = _small(view), _small(other)
    except EpisodeFault:
        return False
    hashes = [picture_hash(np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8)) for rgb in (one, two)]
    if not any(each.any() for each in hashes):
        return float(np.abs(one.astype(np.float32) - two).mean()) <= _FLAT_LEVELS
    return distance(*hashes) <= SAME_BITS


def _small(data: bytes) -> NDArray[np.uint8]:
    """(_SIDE, _SIDE, 3), whatever the shape."""
    return np.asarray(open_upright(data).resize((_SIDE, _SIDE)), np.uint8)
