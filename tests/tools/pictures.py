"""Pictures made on the spot, and a Context that remembers the events that tools post."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from fieldmark.tools.outside import HostContext


class RecordingContext(HostContext):
    """A HostContext whose events are kept in `events` as (kind, fields)."""

    events: list[tuple[str, dict[str, Any]]]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.events = []

    def emit(self, kind: str, **fields: Any) -> int | None:
        self.events.append((kind, fields))
        return None


def jpeg(image: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **{"quality": 92, **options})
    return buffer.getvalue()


def png(image: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **options)
    return buffer.getvalue()


def rgb(image: Image.Image, x: int, y: int) -> tuple[int, int, int]:
    pixel = image.convert("RGB").getpixel((x, y))
    assert isinstance(pixel, tuple)
    return pixel[0], pixel[1], pixel[2]


def sky(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """Soft clouds: noise of three sizes, scaled up smoothly, between two near blues."""
    random, clouds = np.random.default_rng(seed), np.zeros(size[::-1])
    for cell in (12, 24, 48):
        coarse = random.integers(0, 256, (size[1] // cell + 2, size[0] // cell + 2)).astype(np.uint8)
        clouds += np.asarray(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC), float)
    rgb = np.array([90, 120, 170]) + clouds[..., None] / clouds.max() * np.array([40, 40, 30])
    return Image.fromarray(rgb.astype(np.uint8))


def scene(seed: int, size: tuple[int, int] = (480, 360)) -> Image.Image:
    """A picture full of corners and blobs, different for each seed."""
    random = np.random.default_rng(seed)
    width, height = size
    small = random.integers(60, 200, (height // 40, width // 40, 3), dtype=np.uint8)
    image = Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(60):
        x, y, side = random.integers(0, width), random.integers(0, height), random.integers(8, 40)
        colour = tuple(int(value) for value in random.integers(0, 256, 3))
        points = [(x + random.integers(-side, side), y + random.integers(-side, side)) for _ in range(4)]
        pen.polygon([(int(a), int(b)) for a, b in points], fill=colour)
    return image


def lettered(text: str, cap: int, angle: float = 0.0, size: tuple[int, int] = (1000, 700)) -> Image.Image:
    """A hazy sky with `text` in dark letters about `cap` px high, turned by `angle` degrees, and grain."""
    random = np.random.default_rng(7)
    sky = np.linspace(150, 220, size[1])[:, None, None] * np.ones((1, size[0], 3))
    image = Image.fromarray(sky.astype(np.uint8))
    mask = Image.new("L", size, 0)
    font = ImageFont.load_default(size=cap * 1.4)
    ImageDraw.Draw(mask).text((size[0] // 2, size[1] // 2), text, fill=255, font=font, anchor="mm")
    image.paste((25, 30, 60), (0, 0), mask.rotate(angle, resample=Image.Resampling.BICUBIC))
    image = image.filter(ImageFilter.GaussianBlur(0.5))
    grainy = np.asarray(image, np.float32) + random.normal(0, 5, (size[1], size[0], 1))
    return Image.fromarray(grainy.clip(0, 255).astype(np.uint8))


ContextOf = Callable[..., RecordingContext]
"""`context_of(image, index=…, registry=…)`"""
