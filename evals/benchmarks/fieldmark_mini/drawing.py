"""Draw a generic airliner from the side. It is no type in particular: only the registration identifies it.

Lengths along the fuselage are fractions of its length (0 nose, 1 tail cone); heights are fractions of its
diameter, measured downwards from its axis. All is drawn at `OVERSAMPLING` times the final size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

OVERSAMPLING = 2
Colour = tuple[int, int, int]
Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Airliner:
    """Where and how to draw. Pixels are those of the final picture, before the layer is rotated.

    `nose` is the tip of the nose; `length` is negative when the nose points right.
    `text_at` is the middle of the registration in fuselage coordinates.
    """

    registration: str
    cap_height: float
    nose: tuple[float, float]
    length: float
    diameter: float
    body: Colour = (238, 240, 243)
    belly: Colour = (150, 156, 165)
    accent: Colour = (24, 58, 120)
    ink: Colour = (30, 34, 42)
    text_at: tuple[float, float] = (0.74, 0.16)
    cheatline: bool = False


class _Frame(NamedTuple):
    """From fuselage coordinates to oversampled pixels."""

    plane: Airliner

    def point(self, x: float, y: float) -> tuple[float, float]:
        nose_x, nose_y = self.plane.nose
        return (
            (nose_x + x * self.plane.length) * OVERSAMPLING,
            (nose_y + y * self.plane.diameter) * OVERSAMPLING,
        )

    def points(self, *pairs: tuple[float, float]) -> Points:
        return [self.point(x, y) for x, y in pairs]

    def box(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        (x0, y0), (x1, y1) = self.point(left, top), self.point(right, bottom)
        return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def draw_airliner(plane: Airliner, size: tuple[int, int]) -> Image.Image:
    """An RGBA layer of the final `size` (width, height) with the airliner, level and still unrotated."""
    layer = Image.new("RGBA", (size[0] * OVERSAMPLING, size[1] * OVERSAMPLING), (*plane.body, 0))
    frame = _Frame(plane)
    _draw_tail(ImageDraw.Draw(layer), frame)
    _draw_fuselage(layer, frame)
    draw = ImageDraw.Draw(layer)
    _draw_windows(draw, frame)
    _draw_wing(draw, frame)
    _draw_registration(draw, frame)
    return layer.resize(size, Image.Resampling.LANCZOS)


def _outline() -> tuple[Points, Points]:
    """The upper and the lower edge of the fuselage, nose to tail."""
    upper: Points = []
    lower: Points = []
    for x in np.linspace(0.0, 1.0, 160):
        nose = np.sqrt(max(0.0, 1 - max(0.0, (0.11 - x) / 0.11) ** 2))
        tail = max(0.0, (x - 0.72) / 0.28)
        droop = 0.12 * (1 - nose)
        upper.append((float(x), float(-0.5 * nose + droop + 0.20 * tail**1.8)))
        lower.append((float(x), float(0.5 * nose + droop - 0.72 * tail**1.5)))
    return upper, lower


def _draw_fuselage(layer: Image.Image, frame: _Frame) -> None:
    plane = frame.plane
    upper, lower = _outline()
    mask = Image.new("L", layer.size)
    ImageDraw.Draw(mask).polygon(frame.points(*upper, *reversed(lower)), fill=255)
    paint = Image.new("RGB", layer.size, plane.body)
    draw = ImageDraw.Draw(paint)
    draw.rectangle(frame.box(-0.1, 0.28, 1.1, 0.8), fill=plane.belly)
    if plane.cheatline:
        draw.rectangle(frame.box(-0.1, 0.0, 1.1, 0.05), fill=plane.accent)
    shaded = Image.composite(paint, Image.new("RGB", layer.size), _shading(layer.size, frame))
    layer.paste(shaded, (0, 0), mask)


def _shading(size: tuple[int, int], frame: _Frame) -> Image.Image:
    """How much light each row of the round body gets: bright above, dark below."""
    top, bottom = frame.point(0, -0.5)[1], frame.point(0, 0.5)[1]
    height = np.clip((np.arange(size[1]) - top) / (bottom - top), 0, 1)
    light = 255 * (1 - 0.10 * (1 - height) ** 6 - 0.42 * height**2.4)
    column = np.repeat(light[:, None], size[0], axis=1).astype(np.uint8)
    return Image.fromarray(column)


def _draw_tail(draw: ImageDraw.ImageDraw, frame: _Frame) -> None:
    accent = frame.plane.accent
    light: Colour = (min(255, accent[0] + 70), min(255, accent[1] + 70), min(255, accent[2] + 70))
    draw.polygon(frame.points((0.80, -0.42), (0.905, -1.75), (0.975, -1.75), (0.965, -0.30)), fill=accent)
    draw.polygon(frame.points((0.905, -1.75), (0.975, -1.75), (0.974, -1.50), (0.886, -1.50)), fill=light)
    draw.line(frame.points((0.945, -1.70), (0.938, -0.38)), fill=(40, 44, 52), width=2)


def _draw_windows(draw: ImageDraw.ImageDraw, frame: _Frame) -> None:
    glass, line, metal = (46, 54, 66), (120, 126, 134), (170, 174, 181)
    pitch = 0.125 * frame.plane.diameter / abs(frame.plane.length)
    doors = (0.13, 0.40, 0.66, 0.815)
    for x in np.arange(0.15, 0.79, pitch):
        if all(abs(x - door) > 1.3 * pitch for door in doors):
            draw.rounded_rectangle(frame.box(x, -0.17, x + 0.42 * pitch, -0.075), radius=4, fill=glass)
    for x in doors:
        draw.rounded_rectangle(frame.box(x, -0.24, x + 1.1 * pitch, 0.20), radius=6, outline=line, width=2)
    draw.polygon(frame.points((0.030, -0.20), (0.050, -0.29), (0.078, -0.26), (0.072, -0.15)), fill=glass)
    draw.polygon(frame.points((0.876, -0.02), (0.965, -0.06), (1.02, 0.03), (0.985, 0.05)), fill=metal)


def _draw_wing(draw: ImageDraw.ImageDraw, frame: _Frame) -> None:
    wing, shade, metal = (168, 174, 182), (120, 126, 135), (202, 206, 212)
    draw.rounded_rectangle(frame.box(0.315, 0.52, 0.425, 0.98), radius=40, fill=frame.plane.accent)
    draw.rounded_rectangle(frame.box(0.315, 0.50, 0.337, 1.00), radius=22, fill=metal)
    draw.polygon(frame.points((0.425, 0.58), (0.462, 0.72), (0.425, 0.92)), fill=shade)
    draw.polygon(frame.points((0.36, 0.30), (0.57, 0.36), (0.665, 0.74), (0.635, 0.745)), fill=wing)
    draw.polygon(frame.points((0.57, 0.36), (0.665, 0.74), (0.655, 0.742), (0.535, 0.40)), fill=shade)


def _draw_registration(draw: ImageDraw.ImageDraw, frame: _Frame) -> None:
    plane = frame.plane
    font = _font(plane.cap_height * OVERSAMPLING)
    weight = round(plane.cap_height * OVERSAMPLING / 22)
    where = frame.point(*plane.text_at)
    draw.text(where, plane.registration, plane.ink, font, anchor="mm", stroke_width=weight)


def _font(cap_height: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own face (Aileron, CC0), at the size whose capitals are `cap_height` pixels high."""
    _, top, _, bottom = ImageFont.load_default(200).getbbox("H")
    return ImageFont.load_default(200 * cap_height / (bottom - top))
