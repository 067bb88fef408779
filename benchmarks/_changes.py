"""What is done to pictures in benchmarks, and pictures that nobody has seen."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFont, ImageOps

Change = Callable[[Image.Image], Image.Image]


def part(image: Image.Image, area: float) -> Image.Image:
    """A part of the picture, off its middle, of `area` of its pixels."""
    width, height = round(image.width * area**0.5), round(image.height * area**0.5)
    left, top = round((image.width - width) * 0.3), round((image.height - height) * 0.7)
    return image.crop((left, top, left + width, top + height))


def squeezed(image: Image.Image) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=10)
    return Image.open(buffer).convert("RGB")


def overlaid(image: Image.Image) -> Image.Image:
    """A caption over the foot and a sticker: about a quarter of the picture is covered."""
    image = image.copy()
    pen, (width, height) = ImageDraw.Draw(image), image.size
    pen.rectangle((0, height * 0.85, width, height), fill="black")
    font = ImageFont.load_default(size=height * 0.09)
    pen.text((width / 2, height * 0.925), "SEEN YESTERDAY", fill="white", font=font, anchor="mm")
    pen.ellipse((width * 0.55, height * 0.1, width * 0.9, height * 0.5), fill="gold", outline="red", width=5)
    return image


def screenshot(image: Image.Image) -> Image.Image:
    """The picture in a page of text, on about a sixth of it."""
    page = Image.new("RGB", (1280, 800), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(size=17)
    pen.rectangle((0, 0, 1280, 60), fill="#1d3557")
    pen.text((30, 18), "Daily Pictures      News   Travel   Nature   Shop", fill="white", font=font)
    for line in range(28):
        pen.text(
            (40, 85 + 25 * line), "The photograph was sent to us by a reader who saw it abroad", "#222", font
        )
    small = ImageOps.contain(image, (480, 400))
    page.paste(small, (720, 160))
    pen.text((720, 170 + small.height), "Photo: a reader. All rights reserved.", "#555", font)
    return page


def toned(image: Image.Image) -> Image.Image:
    """Warmer, paler and brighter, as filters of phones make it."""
    red, green, blue = ImageEnhance.Color(image).enhance(0.5).split()
    warm = Image.merge("RGB", (red.point(lambda v: min(255, v + 30)), green, blue.point(lambda v: v * 0.8)))
    return ImageEnhance.Contrast(ImageEnhance.Brightness(warm).enhance(1.2)).enhance(1.3)


def rendered(seed: int) -> Image.Image:
    """A picture nobody has seen: soft ground, shapes, strokes and grain."""
    random = np.random.default_rng(seed)
    size = (640, 480)
    ground = random.integers(30, 230, (random.integers(2, 9), random.integers(2, 9), 3), dtype=np.uint8)
    image = Image.fromarray(ground).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(random.integers(20, 120)):
        x, y, side = random.integers(0, 640), random.integers(0, 480), random.integers(5, 70)
        spots = [tuple(map(int, np.array([x, y]) + random.integers(-side, side, 2))) for _ in range(5)]
        colour = tuple(int(value) for value in random.integers(0, 256, 3))
        if random.random() < 0.5:
            pen.polygon(spots, fill=colour)
        else:
            pen.line(spots, fill=colour, width=int(random.integers(1, 5)))
    grain = np.asarray(image, np.float32) + random.normal(0, random.uniform(0, 12), (480, 640, 1))
    return Image.fromarray(grain.clip(0, 255).astype(np.uint8))


def encoded(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
