"""The outline of a garment: where its parts lie, in pixels of the final picture, x from its left edge."""

from __future__ import annotations

from math import pi, sin

from fieldmark.evals.benchmarks.amigo_garments.garment import Garment

Point = tuple[float, float]
MIDDLE, SHOULDER, WAIST = 128.0, 44.0, 138.0
HEM = {"mini": 216.0, "knee": 252.0, "maxi": 290.0}
"""Height of a straight hem; the other hems are shaped around it."""
NECK: dict[str, list[Point]] = {
    "round": [(-28, 0), (-25, 12), (-17, 20), (-8, 24), (0, 25), (8, 24), (17, 20), (25, 12), (28, 0)],
    "v": [(-28, 0), (0, 50), (28, 0)],
    "square": [(-28, 0), (-28, 38), (28, 38), (28, 0)],
    "boat": [(-40, 0), (-20, 7), (0, 9), (20, 7), (40, 0)],
    "sweetheart": [
        (-32, 0), (-32, 34), (-26, 26), (-18, 22), (-10, 25), (-3, 34), (0, 44),
        (3, 34), (10, 25), (18, 22), (26, 26), (32, 34), (32, 0),
    ],
}  # fmt: skip
"""The opening: (from the middle, below the shoulder), from its left to its right end."""
SLEEVE = {"short": (34.0, 40.0), "long": (62.0, 128.0)}
"""How far a sleeve's end lies outward of the shoulder and below it."""


def half_width(y: float) -> float:
    """Half of the garment's width at a height: a bodice that narrows to the waist, a skirt that widens."""
    if y < WAIST:
        return 50 - 14 * (y - SHOULDER) / (WAIST - SHOULDER)
    return 36 + 0.27 * (y - WAIST)


def hem(garment: Garment) -> list[Point]:
    """The lower edge, from its right end to its left."""
    y = HEM[garment.garment_length]
    wide = half_width(y)
    shares = [1 - n / 30 for n in range(61)]
    match garment.hemline:
        case "high_low":
            return [(MIDDLE + wide, y + 24), (MIDDLE - wide, y - 26)]
        case "pointed":
            return [(MIDDLE + wide, y - 16), (MIDDLE, y + 22), (MIDDLE - wide, y - 16)]
        case "scalloped":
            return [(MIDDLE + share * wide, y + 9 * abs(sin(2.5 * pi * (share + 1)))) for share in shares]
        case "ruffled":
            return [(MIDDLE + share * (wide + 5), y + 5 * sin(8 * pi * share)) for share in shares]
        case _:
            return [(MIDDLE + wide, y), (MIDDLE - wide, y)]
