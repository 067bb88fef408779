"""How alike two pictures are: what can be measured, and what that proves."""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.tools.image_index.features import Features, describe, distance
from fieldmark.tools.image_index.local_index import SAME_BITS
from fieldmark.tools.image_index.matching import MIN_INLIERS, Match, match


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
    here, there = describe(one), describe(other)
    bits = distance(here, there)
    same = bits <= SAME_BITS and not _is_plain(here) and not _is_plain(there)
    return Likeness(same, bits, len(here.bits), match(here, there))


def _is_plain(features: Features) -> bool:
    """One colour all over: its hash is that of every other plain picture."""
    return not features.bits.any()
