"""How alike two pictures are: what can be measured, and what that proves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fieldmark.tools.image_index.features import describe, describe_both
from fieldmark.tools.image_index.hashing import SAME_BITS, distance
from fieldmark.tools.image_index.matching import MIN_INLIERS, Match, match

BITS = 256


@dataclass(frozen=True)
class Likeness:
    """`hash_distance` counts differing bits of `hash_bits`; `match` is verified by geometry, or None."""

    same_picture: bool
    hash_distance: int
    hash_bits: int
    match: Match | None

    @property
    def found(self) -> bool:
        """Whether anything agrees; that nothing does proves nothing."""
        return self.same_picture or self.match is not None

    def in_words(self) -> str:
        bits = f"their hashes differ in {self.hash_distance} of {self.hash_bits} bits"
        if self.same_picture:
            return f"The same picture, or a copy of it: {bits}."
        if self.match:
            return (
                f"The same object or scene, verified: {self.match.inliers} key points agree in their "
                f"geometry (chance gives fewer than {MIN_INLIERS}); {bits}."
            )
        return (
            f"No agreement found: fewer than {MIN_INLIERS} key points agree, {bits}. This proves nothing: "
            "another side, light or specimen of one thing measures no better. Compare the marks yourself."
        )


def measure(one: bytes, other: bytes) -> Likeness:
    """Compare two picture files; the region of the match is in px of `one`. DataFault: unreadable."""
    (upright, mirrored), there = describe_both(one), describe(other)
    bits = distance(upright.hash, there.hash)
    found = match(upright, there) or _unmirrored(match(mirrored, there), upright.size[0])
    return Likeness(bits <= SAME_BITS, bits, BITS, found)


def _unmirrored(found: Match | None, width: int) -> Match | None:
    """A match of the mirror image, in px of the picture itself."""
    if found is None:
        return None
    left, top, right, bottom = found.region
    return replace(found, region=(width - right, top, width - left, bottom))
