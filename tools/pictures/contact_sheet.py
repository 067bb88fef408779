"""A contact sheet: the pictures of a gallery on one, numbered from 1, as large as they came if they fit."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from fieldmark.tools.pictures.upright import open_upright

MOST_SIDE = 512
"""Pixels of a picture's longer side on the sheet, at most."""
GAP, BAND = 12, 34
"""Pixels between cells, and of the band above a picture that holds its number."""
BROAD = 1.3
"""Width by height of the whole, about."""
PAPER, INK = (255, 255, 255), (20, 20, 24)


def contact_sheet(pictures: Sequence[bytes]) -> bytes:
    """A PNG; the same bytes for the same pictures. DataFault: one of them is unreadable."""
    opened = [_fitted(data) for data in pictures]
    width, height = max(each.width for each in opened), max(each.height for each in opened) + BAND
    columns = min(len(opened), math.ceil(math.sqrt(len(opened) * height / width * BROAD)))
    rows = math.ceil(len(opened) / columns)
    sheet = Image.new("RGB", (columns * (width + GAP) + GAP, rows * (height + GAP) + GAP), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=26)
    for place, picture in enumerate(opened):
        x = GAP + place % columns * (width + GAP)
        y = GAP + place // columns * (height + GAP)
        draw.text((x + 2, y), str(place + 1), INK, font)
        sheet.paste(picture, (x, y + BAND))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()


def _fitted(data: bytes) -> Image.Image:
    picture = open_upright(data)
    picture.thumbnail((MOST_SIDE, MOST_SIDE))
    return picture
