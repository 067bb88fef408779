"""Draw a garment from the front, on a plain ground: flat colours and dark seams, each attribute in a place of
its own. Coordinates are pixels of the final picture, WIDTH × HEIGHT; all is drawn OVERSAMPLING times larger.
"""

from __future__ import annotations

from math import pi, sin

from PIL import Image, ImageChops, ImageDraw

from fieldmark.evals.benchmarks.amigo_garments.garment import Garment
from fieldmark.evals.benchmarks.amigo_garments.outline import (
    HEM,
    MIDDLE,
    NECK,
    SHOULDER,
    SLEEVE,
    WAIST,
    Point,
    half_width,
    hem,
)

WIDTH, HEIGHT, OVERSAMPLING = 256, 320, 4
Colour = tuple[int, int, int]
GROUND: Colour = (244, 242, 236)
INK: Colour = (28, 28, 34)
COLLAR: Colour = (255, 255, 255)
METAL: Colour = (176, 180, 188)
LEATHER: Colour = (104, 62, 30)
GOLD: Colour = (232, 190, 60)
COLOURS: dict[str, Colour] = {
    "red": (200, 54, 50), "orange": (232, 132, 44), "yellow": (224, 194, 60), "green": (72, 148, 78),
    "teal": (46, 146, 150), "blue": (64, 104, 192), "purple": (132, 84, 172), "pink": (226, 128, 168),
}  # fmt: skip


def draw(garment: Garment) -> Image.Image:
    """(WIDTH, HEIGHT), RGB."""
    return _Canvas(garment).drawn()


class _Canvas:
    def __init__(self, garment: Garment) -> None:
        self.garment = garment
        self.colour = COLOURS[garment.colour]
        size = (WIDTH * OVERSAMPLING, HEIGHT * OVERSAMPLING)
        self.image = Image.new("RGB", size, GROUND)
        self.pen = ImageDraw.Draw(self.image)
        self.hem = hem(garment)

    def drawn(self) -> Image.Image:
        self._sleeves()
        outline = [*self._neck(), *self._sides()]
        self._cloth(outline)
        for part in (self._skirt, self._ruffle, self._closure, self._pockets, self._waist):
            part()
        self._line([*outline, outline[0]], 2)
        self._slit(outline)
        self._collar()
        return self.image.resize((WIDTH, HEIGHT), Image.Resampling.BOX)

    def _neck(self) -> list[Point]:
        return [(MIDDLE + x, SHOULDER + y) for x, y in NECK[self.garment.neckline]]

    def _sides(self) -> list[Point]:
        """From the right shoulder around the hem to the left shoulder."""
        right = [(MIDDLE + half_width(y), y) for y in (SHOULDER + 6, 90.0, WAIST)]
        left = [(2 * MIDDLE - x, y) for x, y in reversed(right)]
        return [*right, *self.hem, *left]

    def _cloth(self, outline: list[Point]) -> None:
        mask = Image.new("L", self.image.size, 0)
        ImageDraw.Draw(mask).polygon(_scaled(outline), fill=255)
        cloth = Image.new("RGB", self.image.size, self.colour)
        _pattern(ImageDraw.Draw(cloth), self.garment.pattern, _tint(self.colour))
        self.image.paste(cloth, mask=mask)

    def _sleeves(self) -> None:
        if self.garment.sleeve_length == "none":
            return
        out, down = SLEEVE[self.garment.sleeve_length]
        for side in (-1, 1):
            arm = [(48, 2), (48 + out, down - 10), (36 + out, down + 4), (44, 34)]
            points = [(MIDDLE + side * x, SHOULDER + y) for x, y in arm]
            self.pen.polygon(_scaled(points), fill=self.colour)
            self._line([*points, points[0]], 2)

    def _skirt(self) -> None:
        end = HEM[self.garment.garment_length] - 26
        if self.garment.skirt == "tiered":
            for share in (0.42, 0.84):
                y = WAIST + share * (end - WAIST)
                wide = half_width(y)
                steps = [wide * (2 * n / 24 - 1) for n in range(25)]
                self._line([(MIDDLE + x, y + 2.5 * sin(n * pi / 2)) for n, x in enumerate(steps)], 2.5)
        if self.garment.skirt == "pleated":
            for share in (-0.84, -0.28, 0.28, 0.84):
                top, low = half_width(WAIST + 10), half_width(end + 14)
                self._line([(MIDDLE + share * top, WAIST + 10), (MIDDLE + share * low, end + 14)], 1.6)

    def _ruffle(self) -> None:
        """A seam above the waves, by which a ruffle is told from scallops."""
        if self.garment.hemline == "ruffled":
            y = HEM[self.garment.garment_length] - 14
            self._line([(MIDDLE - half_width(y), y), (MIDDLE + half_width(y), y)], 2)

    def _closure(self) -> None:
        top = SHOULDER + max(y for _, y in NECK[self.garment.neckline]) + 6
        end = HEM[self.garment.garment_length] - 30
        if self.garment.closure == "buttons":
            self._line([(MIDDLE, top), (MIDDLE, end)], 1)
            y = top + 6
            while y < end:
                if abs(y - WAIST) > 9:
                    self._disc((MIDDLE, y), 4, INK)
                y += 17
        if self.garment.closure == "zip":
            self._box(MIDDLE - 4, top - 6, MIDDLE + 4, end, METAL, INK)
            self._box(MIDDLE - 3, top, MIDDLE + 3, top + 12, GOLD, INK)
        if self.garment.closure == "wrap":
            self._line([(MIDDLE + 24, SHOULDER + 30), (MIDDLE - 35, WAIST)], 3)
            self._line([(MIDDLE - 35, WAIST), (MIDDLE - 14, end + 18)], 3)

    def _pockets(self) -> None:
        for side in (-1, 1):
            x = MIDDLE + side * 27
            if self.garment.pockets == "patch":
                self._box(x - 9, 158, x + 9, 178, _tint(self.colour), INK)
                self._box(x - 9, 158, x + 9, 163, _tint(self.colour), INK)
            if self.garment.pockets == "welt":
                self._line([(x - side * 8, 160), (x + side * 7, 176)], 6)

    def _waist(self) -> None:
        wide = half_width(WAIST)
        if self.garment.waist == "belt":
            self._box(MIDDLE - wide, WAIST - 6, MIDDLE + wide, WAIST + 6, LEATHER, INK)
            self._box(MIDDLE - 9, WAIST - 8, MIDDLE + 9, WAIST + 8, GOLD, INK)
        if self.garment.waist == "tie":
            self._box(MIDDLE - wide, WAIST - 4, MIDDLE + wide, WAIST + 4, COLLAR, INK)
            for side in (-1, 1):
                loop = [(18, WAIST), (18 + side * 15, WAIST - 9), (18 + side * 15, WAIST + 9)]
                self._shape([(MIDDLE + x, y) for x, y in loop], COLLAR)
        if self.garment.waist == "elastic":
            for y in (WAIST - 5, WAIST + 5):
                self._line([(MIDDLE - wide, y), (MIDDLE + wide, y)], 1.6)
            for n in range(-7, 8):
                self._line([(MIDDLE + n * wide / 8, WAIST - 5), (MIDDLE + n * wide / 8, WAIST + 5)], 1.2)

    def _slit(self, outline: list[Point]) -> None:
        """An opening from the hem upward; it takes the hem's line away too."""
        if self.garment.slit == "none":
            return
        low = HEM[self.garment.garment_length]
        wide = half_width(low)
        places = ((0.45, low + 30), (0.58, low - 38), (0.72, low + 30))
        wedge = [(MIDDLE + share * wide, y) for share, y in places]
        mask = Image.new("L", self.image.size, 0)
        inside = ImageDraw.Draw(mask)
        inside.polygon(_scaled(outline), fill=255)
        inside.line(_scaled([*outline, outline[0]]), fill=255, width=2 * OVERSAMPLING)
        whole = self.image.copy()
        self.pen.polygon(_scaled(wedge), fill=GROUND)
        self._line(wedge, 2)
        self.image.paste(whole, mask=ImageChops.invert(mask))

    def _collar(self) -> None:
        for side in (-1, 1):
            if self.garment.collar == "pointed":
                flap = [(26, -4), (44, 2), (34, 36), (12, 20)]
                self._shape([(MIDDLE + side * x, SHOULDER + y) for x, y in flap], COLLAR)
            if self.garment.collar == "rounded":
                self._disc((MIDDLE + side * 32, SHOULDER + 12), 15, COLLAR)

    def _line(self, points: list[Point], width: float) -> None:
        self.pen.line(_scaled(points), fill=INK, width=round(width * OVERSAMPLING), joint="curve")

    def _shape(self, points: list[Point], fill: Colour) -> None:
        self.pen.polygon(_scaled(points), fill=fill)
        self._line([*points, points[0]], 2)

    def _disc(self, at: Point, radius: float, fill: Colour) -> None:
        (x, y), r = at, radius
        self.pen.ellipse(
            _scaled([(x - r, y - r), (x + r, y + r)]), fill=fill, outline=INK, width=2 * OVERSAMPLING
        )

    def _box(self, left: float, top: float, right: float, bottom: float, fill: Colour, line: Colour) -> None:
        corners = _scaled([(left, top), (right, bottom)])
        self.pen.rectangle(corners, fill=fill, outline=line, width=2 * OVERSAMPLING)


def _pattern(pen: ImageDraw.ImageDraw, pattern: str, tint: Colour) -> None:
    """All over; the cloth is cut out of it."""
    if pattern in ("stripes", "checks"):
        for x in range(0, WIDTH, 16):
            pen.rectangle(_scaled([(x, 0), (x + 4, HEIGHT)]), fill=tint)
    if pattern == "checks":
        for y in range(0, HEIGHT, 16):
            pen.rectangle(_scaled([(0, y), (WIDTH, y + 4)]), fill=tint)
    if pattern == "dots":
        for row, y in enumerate(range(6, HEIGHT, 12)):
            for x in range(6 + 8 * (row % 2), WIDTH, 16):
                pen.ellipse(_scaled([(x - 2.5, y - 2.5), (x + 2.5, y + 2.5)]), fill=tint)


def _tint(colour: Colour) -> Colour:
    red, green, blue = (round(0.72 * part + 0.28 * 255) for part in colour)
    return (red, green, blue)


def _scaled(points: list[Point]) -> list[Point]:
    return [(x * OVERSAMPLING, y * OVERSAMPLING) for x, y in points]
