"""Is a found picture a copy of ours: by perceptual hash, by looks of the whole and of parts, by geometry.

After the copy detection of the Image Similarity Challenge (Douze et al. 2021, arXiv 2106.09672), with the
features of the local index. Which numbers make a copy is `deciding.py`'s to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PIL import Image

from fieldmark.evals.curation.leakage.aligning import Alignment, Grey, align
from fieldmark.tools.image_index.features import Features, Floats, describe_both_of
from fieldmark.tools.image_index.framed import pictures_in_page
from fieldmark.tools.image_index.hashing import distance
from fieldmark.tools.image_index.look import look
from fieldmark.tools.pictures.upright import open_upright
from fieldmark.trace import Box

GRIDS = (2, 3)
"""A found picture is also cut into 2 x 2 and 3 x 3 parts, each half over its neighbour."""
PARTS, PART_LOOK = 2, 0.45
"""So many parts that look most like ours, at least so much, are aligned on their own."""
SURE = 0.9
"""From this score on no part is looked at any more."""
_HALF = 128
"""Differing bits of 256 between pictures that have nothing in common."""
_SIDE = 1600


@dataclass(frozen=True)
class Likeness:
    """How much a found picture is ours, and where.

    `score` 0 to 1: the better of hash and pixels. `hash_distance`: bits of 256. `look`: the best cosine over
    the whole and its parts. `inliers`, `agreement`: of the alignment, 0 without. `own`: the part of ours that
    is shown, `region`: where it lies in the found picture; both in px, None where only the hash agrees.
    """

    score: float
    hash_distance: int
    look: float
    inliers: int = 0
    agreement: float = 0.0
    own: Box | None = None
    region: Box | None = None
    matrix: tuple[tuple[float, ...], ...] | None = None


class Picture:
    """A picture as both sides of a comparison need it. DataFault: unreadable."""

    def __init__(self, data: bytes) -> None:
        self.image = open_upright(data)
        self.views: tuple[Features, Features] = describe_both_of(self.image)
        self.image.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
        self._parts: dict[Box, tuple[Features, Grey]] = {}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in px, as given."""
        return self.views[0].size

    @cached_property
    def grey(self) -> Grey:
        return np.asarray(self.image.convert("L"), np.uint8)

    @cached_property
    def framed(self) -> list[Box]:
        """Where the largest pictures of a page lie, in px of `image`; none where this is no page."""
        return pictures_in_page(self.image)[:PARTS]

    @cached_property
    def parts(self) -> list[tuple[Box, Floats]]:
        """Each part of the grids, in px of `image`, and its look."""
        boxes = [box for grid in GRIDS for box in _grid(self.image.size, grid)]
        return [(box, look(np.asarray(self.image.crop(_whole(box))))) for box in boxes]

    def part(self, box: Box) -> tuple[Features, Grey]:
        """A part of `parts`, described once, however many it is compared with."""
        if box not in self._parts:
            cut = self.image.crop(_whole(box))
            self._parts[box] = describe_both_of(cut)[0], np.asarray(cut.convert("L"), np.uint8)
        return self._parts[box]


def likeness(ours: Picture, theirs: Picture) -> Likeness:
    """Compare; a part of the found picture is looked at alone where the whole does not settle it."""
    bits = distance(ours.views[0].hash, theirs.views[0].hash)
    looks = np.stack([view.look for view in ours.views])
    whole = float((looks @ theirs.views[0].look).max())
    best = _best(ours, theirs.views[0], theirs.grey)
    if max(_hash_score(bits), best.agreement if best else 0.0) < SURE:
        alike = sorted(((float((looks @ seen).max()), box) for box, seen in theirs.parts), reverse=True)
        whole = max(whole, alike[0][0])
        likely = [box for cosine, box in alike[:PARTS] if cosine >= PART_LOOK]
        for box in [*theirs.framed, *likely]:
            best = _better(best, _in_part(ours, theirs, box))
    score = max(_hash_score(bits), best.agreement if best else 0.0, 0.0)
    if best is None:
        return Likeness(score, bits, whole)
    matrix = tuple(tuple(float(value) for value in row) for row in best.matrix)
    return Likeness(score, bits, whole, best.inliers, best.agreement, best.own, best.region, matrix)


def _best(ours: Picture, theirs: Features, grey: Grey) -> Alignment | None:
    """As it is or mirrored, whichever agrees more."""
    straight, mirrored = (
        align(view, theirs, ours.grey, grey, mirrored=flipped)
        for view, flipped in zip(ours.views, (False, True), strict=True)
    )
    return _better(straight, mirrored)


def _in_part(ours: Picture, theirs: Picture, box: Box) -> Alignment | None:
    """The alignment with a part of `theirs`, told in px of the whole."""
    found = _best(ours, *theirs.part(box))
    if found is None:
        return None
    factor = theirs.size[0] / theirs.image.width
    left, top = int(box[0]), int(box[1])
    matrix = factor * (found.matrix + np.array([[0, 0, left], [0, 0, top]]))
    x0, y0, x1, y1 = found.region
    region = ((x0 + left) * factor, (y0 + top) * factor, (x1 + left) * factor, (y1 + top) * factor)
    return Alignment(matrix, found.inliers, found.agreement, found.own, region)


def _better(one: Alignment | None, other: Alignment | None) -> Alignment | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda found: found.agreement)


def _hash_score(bits: int) -> float:
    """1: not a bit differs; 0: as much as between strangers."""
    return max(0.0, 1 - bits / _HALF)


def _grid(size: tuple[int, int], count: int) -> list[Box]:
    """The parts of a grid that overlap their neighbours by half."""
    width, height = size[0] / count, size[1] / count
    steps = [number / 2 for number in range(2 * count - 1)]
    return [(x * width, y * height, (x + 1) * width, (y + 1) * height) for y in steps for x in steps]


def _whole(box: Box) -> tuple[int, int, int, int]:
    left, top, right, bottom = box
    return int(left), int(top), max(int(left) + 1, int(right)), max(int(top) + 1, int(bottom))
