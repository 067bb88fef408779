"""Visual words: SIFT descriptors quantised for an inverted file, with Hamming embedding.

A descriptor's word is the pair of the nearest centres of its two halves (inverted multi-index: Babenko &
Lempitsky 2012); the signs of its residual on 64 directions tell apart what a word holds (Hamming
embedding: Jégou, Douze & Schmid 2008). The codebook is fixed, so that a picture's words never change:
`codebook.py` made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CODEBOOK = Path(__file__).with_name("codebook.npz")
WORDS = 1 << 16

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Words:
    """`words` (N,) and `signatures` (N,) 64 bits each, of N descriptors in their order."""

    words: NDArray[np.uint16]
    signatures: NDArray[np.uint64]

    def __getitem__(self, part: slice) -> Words:
        return Words(self.words[part], self.signatures[part])


def words_of(descriptors: Floats) -> Words:
    """The words of (N, 128) RootSIFT descriptors."""
    centres, directions = _codebook()
    halves = [descriptors[:, :64], descriptors[:, 64:]]
    nearest = [_nearest(half, own) for half, own in zip(halves, centres, strict=True)]
    residual = descriptors - np.concatenate([centres[0][nearest[0]], centres[1][nearest[1]]], axis=1)
    signs = np.packbits(residual @ directions > 0, axis=1)
    words = (nearest[0] << 8 | nearest[1]).astype(np.uint16)
    return Words(words, np.ascontiguousarray(signs).view(np.uint64).ravel())


def _nearest(half: Floats, centres: Floats) -> NDArray[np.int64]:
    return np.asarray(((centres**2).sum(axis=1) - 2 * half @ centres.T).argmin(axis=1))


@cache
def _codebook() -> tuple[Any, Floats]:
    """Centres (2, 256, 64) and directions (128, 64)."""
    with np.load(CODEBOOK, allow_pickle=False) as file:
        return file["centres"].astype(np.float32), file["directions"].astype(np.float32)
