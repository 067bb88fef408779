"""The drawn garments of `amigo-garments`, read off their pixels: each attribute has a place of its own.

No labels and no model: places and colours are those of the drawings; of any other picture it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fieldmark.tools.pictures.upright import open_upright

SIZE = (256, 320)
_MIDDLE, _SHOULDER, _WAIST = 128, 44, 138
_GROUND = 0.3
"""At least so much of a drawing is its plain ground."""
Pixels = NDArray[np.int64]
Mask = NDArray[np.bool_]


def read_garment(data: bytes) -> dict[str, str] | None:
    """Type of attribute → its value, `none` where the thing is not there; None: this is no such drawing."""
    image = open_upright(data)
    pixels: Pixels = np.asarray(image).astype(np.int64)
    if image.size != SIZE or _ground(pixels).mean() < _GROUND:
        return None
    try:
        return {kind: read(pixels) for kind, read in _READERS.items()}
    except (IndexError, ValueError):  # a column or line without a garment
        return None


def _near(pixels: Pixels, colour: tuple[int, int, int], within: int = 40) -> Mask:
    """Where a picture (H, W, 3) has a colour."""
    found: Mask = np.abs(pixels - np.array(colour)).max(axis=-1) <= within
    return found


def _ink(pixels: Pixels) -> Mask:
    return _near(pixels, (28, 28, 34), 60)


def _ground(pixels: Pixels) -> Mask:
    return _near(pixels, (244, 242, 236), 5)


def _bottom(pixels: Pixels, x: int) -> int:
    """Of the garment in column x."""
    return int(np.flatnonzero(~_ground(pixels[:, x]))[-1])


def _waist(p: Pixels) -> str:
    row = p[_WAIST - 2 : _WAIST + 3, _MIDDLE - 28 : _MIDDLE - 12]
    if _near(row, (104, 62, 30), 25).mean() > 0.5:
        return "belt"
    if _near(row, (255, 255, 255), 8).mean() > 0.5:
        return "tie"
    return "elastic" if _ink(row).mean() > 0.2 else "none"


def _closure(p: Pixels) -> str:
    column = p[113:128, _MIDDLE]
    if _near(column, (176, 180, 188), 12).mean() > 0.6:
        return "zip"
    if _ink(column).mean() > 0.5:
        return "buttons"
    return "wrap" if _ink(p[105:128, _MIDDLE - 30 : _MIDDLE - 5]).any(axis=1).mean() > 0.8 else "none"


def _collar(p: Pixels) -> str:
    white = _near(p[_SHOULDER : _SHOULDER + 40, _MIDDLE + 8 : _MIDDLE + 46], (255, 255, 255), 8)
    if not white.any():
        return "none"
    return "pointed" if white[27:].any() else "rounded"


def _neckline(p: Pixels) -> str:
    """By its depth in the middle and 8 px beside, where no collar lies."""
    middle, beside = (int(np.argmin(_ground(p[_SHOULDER + 2 :, _MIDDLE + x]))) for x in (0, 8))
    if middle < 30:
        return "boat" if middle < 16 else "round"
    if abs(middle - beside) < 3:
        return "square"
    return "v" if beside > 29 else "sweetheart"


def _hemline(p: Pixels) -> str:
    left, middle, right = _bottom(p, _MIDDLE - 40), _bottom(p, _MIDDLE), _bottom(p, _MIDDLE + 20)
    if right - left > 12 and middle < right:
        return "high_low"
    if middle - left > 12:
        return "pointed"
    edge = [_bottom(p, x) for x in range(_MIDDLE - 45, _MIDDLE - 10)]
    seam = _ink(p[min(edge) - 20 : min(edge) - 3, _MIDDLE - 45 : _MIDDLE - 10]).mean(axis=1).max()
    if seam > 0.95 and max(edge) - min(edge) > 3:
        return "ruffled"
    return "scalloped" if max(edge) - min(edge) > 3 else "straight"


def _pockets(p: Pixels) -> str:
    """The one on the right, beside which no wrap passes."""
    right = _ink(p[158:178, _MIDDLE + 17 : _MIDDLE + 37])
    if right[2:18, 16:20].any(axis=1).all() and right[2:18, :4].any(axis=1).all():
        return "patch"
    return "welt" if right.mean() > 0.2 else "none"


def _skirt(p: Pixels) -> str:
    if _ink(p[180:190, _MIDDLE + 36 : _MIDDLE + 46]).any(axis=1).mean() > 0.9:
        return "pleated"
    end = min(_bottom(p, x) for x in range(_MIDDLE - 45, _MIDDLE)) - 22
    bands = (_ink(p[y : y + 8, _MIDDLE + 6 : _MIDDLE + 17]) for y in range(150, end - 8))
    return "tiered" if any(band.any(axis=0).all() for band in bands) else "plain"


def _slit(p: Pixels) -> str:
    """A gap within the right half of the skirt, above the hem."""
    end = min(_bottom(p, x) for x in range(_MIDDLE - 45, _MIDDLE)) - 3
    for line in p[178:end, _MIDDLE : _MIDDLE + 56]:
        inside = np.flatnonzero(~_ground(line))
        if _ground(line[: inside[-1]]).any():
            return "side"
    return "none"


_READERS: dict[str, Callable[[Pixels], str]] = {
    "neckline": _neckline, "hemline": _hemline, "closure": _closure, "pockets": _pockets, "collar": _collar,
    "waist": _waist, "skirt": _skirt, "slit": _slit,
}  # fmt: skip
