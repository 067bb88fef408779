"""Small pictures that look like nothing else, each by its number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image


def picture(number: int, side: int = 96) -> Image.Image:
    """Soft blobs of noise: enough low frequencies for a hash, and none alike."""
    noise = np.random.default_rng(number).integers(0, 255, (12, 12, 3), np.uint8)
    return Image.fromarray(noise).resize((side, side), Image.Resampling.BICUBIC)


def save(path: Path, number: int, side: int = 96, **how: Any) -> Path:
    """As the name says, the folders with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(number, side).save(path, **how)
    return path
