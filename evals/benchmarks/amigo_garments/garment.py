"""What a drawn garment is: its attributes; families of look-alikes that differ in a few of them, seeded."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

KINDS: dict[str, tuple[str, ...]] = {
    "colour": ("red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"),
    "pattern": ("plain", "stripes", "dots", "checks"),
    "sleeve_length": ("none", "short", "long"),
    "garment_length": ("mini", "knee", "maxi"),
    "neckline": ("round", "v", "square", "boat", "sweetheart"),
    "hemline": ("straight", "high_low", "ruffled", "scalloped", "pointed"),
    "closure": ("none", "buttons", "zip", "wrap"),
    "pockets": ("none", "patch", "welt"),
    "collar": ("none", "pointed", "rounded"),
    "waist": ("none", "belt", "tie", "elastic"),
    "skirt": ("plain", "tiered", "pleated"),
    "slit": ("none", "side"),
}
"""Attribute type → its values; the first four may not be asked about."""
SALIENT = ("colour", "pattern", "sleeve_length", "garment_length")
SUBTLE = tuple(kind for kind in KINDS if kind not in SALIENT)
FAMILIES, NEAR, FAR = 10, 7, 2
"""Families; members that differ from the first in one attribute, and in three."""


@dataclass(frozen=True)
class Garment:
    """One value of each type of KINDS."""

    colour: str
    pattern: str
    sleeve_length: str
    garment_length: str
    neckline: str
    hemline: str
    closure: str
    pockets: str
    collar: str
    waist: str
    skirt: str
    slit: str

    @property
    def attributes(self) -> dict[str, list[str]]:
        return {kind: [value] for kind, value in asdict(self).items()}

    @property
    def subtle(self) -> tuple[str, ...]:
        """What may be asked about: no two garments of the set are alike in all of it."""
        return tuple(value for kind, value in asdict(self).items() if kind in SUBTLE)


def garments(seed: int = 20) -> list[Garment]:
    """FAMILIES × (1 + NEAR + FAR) garments; the same seed gives the same ones.

    The near ones of a family each differ in another attribute: a type can be asked about once, so that three
    of its values could not be told apart.
    """
    drawn = random.Random(seed)
    found: list[Garment] = []
    for _ in range(FAMILIES):
        first = _new(found, lambda: _any(drawn))
        found.append(first)
        for kind in drawn.sample(SUBTLE, NEAR):
            found.append(_new(found, partial(_changed, drawn, first, [kind])))
        for _ in range(FAR):
            kinds = [*drawn.sample(SUBTLE, 3), drawn.choice(SALIENT)]
            found.append(_new(found, partial(_changed, drawn, first, kinds)))
    return found


def _new(found: list[Garment], make: Callable[[], Garment]) -> Garment:
    """The first that is not like one that was found."""
    known = {each.subtle for each in found}
    while True:
        one = make()
        if one.subtle not in known:
            return one


def _any(drawn: random.Random) -> Garment:
    return Garment(**{kind: drawn.choice(values) for kind, values in KINDS.items()})


def _changed(drawn: random.Random, like: Garment, kinds: Sequence[str]) -> Garment:
    new = {kind: drawn.choice([v for v in KINDS[kind] if v != getattr(like, kind)]) for kind in kinds}
    return replace(like, **new)
