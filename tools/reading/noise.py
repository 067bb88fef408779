"""Grain in a picture: sensor noise, dither."""

from __future__ import annotations

import cv2
import numpy as np

from fieldmark.tools.reading.engine import Grey

_GRAINY = 6.0  # grey levels; textures of photos stay below
_SMOOTHING = 0.7  # px of the original


def calmed(grey: Grey, scale: float) -> Grey:
    """The picture, smoothed at the size of a pixel of its original where it is grainy.

    `scale`: pixels of `grey` for one of the original.
    """
    return smoothed(grey, _SMOOTHING * scale) if _noise(grey, scale) > _GRAINY else grey


def smoothed(grey: Grey, sigma: float) -> Grey:
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), sigma), np.uint8)


def _noise(grey: Grey, scale: float) -> float:
    """Standard deviation of the noise, from the quietest quarter of the picture: lettering is no noise.

    The kernel is that of Immerkaer, Fast Noise Variance Estimation, 1996.
    """
    small = (
        cv2.resize(grey, None, fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_AREA)
        if scale > 1
        else grey
    )
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    quarter = np.quantile(np.abs(cv2.filter2D(small, cv2.CV_32F, kernel)), 0.25)
    return float(quarter) / 6 / 0.3186  # a quarter of a normal distribution lies within 0.3186 deviations
