"""Two pictures on one sheet, each under its label."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

PANEL = 760
"""Sides of the square, in px, that each picture is fitted into."""

_LABEL = 30
_GAP = 16
_MAX_ENLARGEMENT = 4.0


def side_by_side(left: Image.Image, right: Image.Image, labels: tuple[str, str]) -> bytes:
    """A JPEG of at most 1536 x 790 px: two RGB pictures at the same height where they fit, on white."""
    panels = [_fitted(left), _fitted(right)]
    size = (sum(panel.width for panel in panels) + _GAP, max(panel.height for panel in panels) + _LABEL)
    sheet = Image.new("RGB", size, "white")
    pen, x = ImageDraw.Draw(sheet), 0
    font = ImageFont.load_default(size=20)
    for panel, label in zip(panels, labels, strict=True):
        pen.text((x + 4, _LABEL // 2), label, fill="black", font=font, anchor="lm")
        sheet.paste(panel, (x, _LABEL))
        x += panel.width + _GAP
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=92, subsampling=0)
    return buffer.getvalue()


def _fitted(image: Image.Image) -> Image.Image:
    scale = min(PANEL / max(image.size), _MAX_ENLARGEMENT)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)
