"""The evidence of a copy for a person's eyes: the found picture, and ours laid over it where it was found."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw

from fieldmark.evals.curation.leakage.verifying import Likeness, Picture

_SIDE = 640
_COLOUR = "#e4002b"


def draw(ours: Picture, theirs: Picture, found: Likeness, file: Path) -> None:
    """Three panels beside each other, as a JPEG: ours, the found one with the frame of ours, both blended.

    Without an alignment (only the hash agrees) ours is laid over the whole.
    """
    own, other = _small(ours.image), _small(theirs.image)
    matrix = _between(ours, theirs, found, own, other)
    laid = cv2.warpAffine(np.asarray(own), matrix, other.size)
    inside = cv2.warpAffine(np.full((own.height, own.width), 255, np.uint8), matrix, other.size) > 0
    base = np.asarray(other)
    blend = np.where(inside[..., None], base // 2 + laid // 2, base)
    framed = other.copy()
    corners = np.array([[0, 0, 1], [own.width, 0, 1], [own.width, own.height, 1], [0, own.height, 1]])
    line = [(float(x), float(y)) for x, y in corners @ matrix.T]
    ImageDraw.Draw(framed).line([*line, line[0]], fill=_COLOUR, width=4)
    panels = [own, framed, Image.fromarray(blend.astype(np.uint8))]
    sheet = Image.new("RGB", (sum(p.width for p in panels) + 20, max(p.height for p in panels)), "white")
    left = 0
    for panel in panels:
        sheet.paste(panel, (left, 0))
        left += panel.width + 10
    file.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(file, "JPEG", quality=85)


def _between(
    ours: Picture, theirs: Picture, found: Likeness, own: Image.Image, other: Image.Image
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """(2, 3): px of `own` → px of `other`."""
    if found.matrix is None:
        return np.array([[other.width / own.width, 0, 0], [0, other.height / own.height, 0]])
    before = np.diag([ours.size[0] / own.width, ours.size[1] / own.height, 1.0])
    after = other.width / theirs.size[0]
    return np.asarray(after * (np.array(found.matrix) @ before), np.float64)


def _small(image: Image.Image) -> Image.Image:
    copy = image.convert("RGB")
    copy.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    return copy
