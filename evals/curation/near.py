"""Near copies among many pictures: perceptual hashes that differ in few bits, turned and mirrored too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.uint64]
"""(N, 4) hashes of 256 bits."""


def near_pairs(looks: Sequence[tuple[str, bytes]], bits: int) -> Iterator[tuple[str, str, int]]:
    """(earlier, later, differing bits) of each pair within `bits` of 256; `looks`: (name, 32 bytes).

    A picture that is too flat for a hash (all zero) is near to none. One against all later ones at a time:
    memory grows by 32 bytes a picture.
    """
    from fieldmark.tools.image_index.hashing import turned

    table = np.frombuffer(b"".join(look for _, look in looks), np.uint64).reshape(-1, 4)
    flat: NDArray[np.bool_] = (table == 0).all(axis=1)
    for number, (name, _) in enumerate(looks):
        later = table[number + 1 :]
        if flat[number] or not len(later):
            continue
        differing = _least(turned(table[number]), later)
        for index in np.flatnonzero((differing <= bits) & ~flat[number + 1 :]):
            yield name, looks[number + 1 + int(index)][0], int(differing[index])


def _least(turns: Table, later: Table) -> NDArray[np.int64]:
    """(N,) the least of the eight turns, against each of (N, 4)."""
    least = np.full(len(later), 256)
    for turn in turns:
        np.minimum(least, np.bitwise_count(later ^ turn).sum(axis=1, dtype=np.int64), out=least)
    return least
