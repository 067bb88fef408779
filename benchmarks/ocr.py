"""Reading registrations: exact matches by height, rotation and noise, and CPU time, three ways side by side.

Drawn registrations in three typefaces and many colours on cloudy, cluttered backgrounds. All three read the
same wide crop: plain pytesseract (any of its words may match), and our tool `ocr` in `registration` mode with
Tesseract and with RapidOCR (its first registration must match). Read the ratios; times move with the machine.

    make bench    or    .venv/bin/python -m benchmarks.ocr --each 4 --write
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import cv2
import numpy as np
import pytesseract
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from fieldmark.task import OcrEngine
from fieldmark.tools.calling import call_tool
from fieldmark.tools.outside import HostContext
from fieldmark.tools.reading.registrations import normalised
from fieldmark.tools.registry import get_tool

HEIGHTS = (12, 16, 20, 24, 32, 40)
ROTATIONS = (0, 5, 10, 20, 90)
NOISE = (0, 10, 25)
SEED = 2026
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
FORMS = ("N###@@", "N####@", "N#####", "G-@@@@", "D-A@@@", "VH-@@@", "B-####", "JA###@", "PH-@@@", "9V-@@@")
CANVAS = (1000, 700)


@dataclass(frozen=True)
class Condition:
    """Height of the capitals in px, clockwise rotation in degrees, standard deviation of noise in grey levels."""

    height: int
    rotation: int
    noise: int


@dataclass(frozen=True)
class Sample:
    """A JPEG and the registration in it; `crop` is the box left, top, right, bottom that is read."""

    text: str
    picture: bytes
    crop: tuple[int, int, int, int]


def draw(condition: Condition, seed: int) -> Sample:
    """A registration under a condition; all else is by chance."""
    chance = random.Random(f"{seed} {condition}")
    text = registration(chance)
    mask = lettering(text, condition.height, chance)
    background, ink = colours(chance)
    scene = clouds(background, chance)
    centre = (chance.randint(380, 620), chance.randint(280, 420))
    clutter(scene, centre, mask.size[0], condition.height, chance)
    layer = Image.new("L", CANVAS)
    layer.paste(mask, (centre[0] - mask.size[0] // 2, centre[1] - mask.size[1] // 2))
    angle = condition.rotation * chance.choice((-1, 1))
    if chance.random() < 0.5:  # the aircraft and all on it, or the lettering alone
        scene = scene.rotate(-angle, Image.Resampling.BICUBIC, center=centre, fillcolor=background)
    layer = layer.rotate(-angle, Image.Resampling.BICUBIC, center=centre)
    scene.paste(ink, (0, 0), layer)
    wide, tall = mask.size[0] * 1.2 + 20, mask.size[0] * 0.7 + condition.height * 2
    shift = chance.uniform(-0.3, 0.3) * wide
    crop = (centre[0] - wide + shift, centre[1] - tall, centre[0] + wide + shift, centre[1] + tall)
    left, top, right, bottom = (round(value) for value in crop)
    box = (max(0, left), max(0, top), min(CANVAS[0], right), min(CANVAS[1], bottom))
    return Sample(text, photographed(scene, condition.noise, seed), box)


def registration(chance: random.Random) -> str:
    digit = {"#": "0123456789", "@": LETTERS}
    text = "".join(chance.choice(digit[sign]) if sign in digit else sign for sign in chance.choice(FORMS))
    return text.replace("N0", "N1") if text[0] == "N" else text


def lettering(text: str, height: int, chance: random.Random) -> Image.Image:
    """White on black in one of three typefaces, capitals `height` px high: Pillow's, and OpenCV's two."""
    big = 4 * height
    face = chance.choice(("pillow", "sans", "italic"))
    if face == "pillow":
        font = ImageFont.load_default(big * 1.4)
        image = Image.new("L", (len(text) * 2 * big, 3 * big))
        ImageDraw.Draw(image).text(
            (big, 2 * big), text, 255, font, "ls", stroke_width=chance.randint(0, big // 16)
        )
    else:
        canvas = np.zeros((3 * big, len(text) * 2 * big), np.uint8)
        weight = chance.choice((400, 600, 800))
        cv2.putText(canvas, text, (big, 2 * big), (255,), cv2.FontFace(face), round(big * 1.4), weight)
        image = Image.fromarray(canvas)
    cut = image.crop(image.getbbox())
    width = max(1, round(cut.width * height / cut.height * chance.uniform(0.85, 1.1)))
    return cut.resize((width, height), Image.Resampling.LANCZOS)


def colours(chance: random.Random) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """A background and an ink whose brightness differs by at least 70 of 255."""
    while True:
        pair = [tuple(chance.randint(0, 255) for _ in range(3)) for _ in range(2)]
        bright = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in pair]
        if abs(bright[0] - bright[1]) >= 70:
            return pair[0], pair[1]


def clouds(colour: tuple[int, int, int], chance: random.Random) -> Image.Image:
    """Light that varies slowly over a plain colour."""
    random_ = np.random.default_rng(chance.randint(0, 2**32))
    light = cv2.resize(
        random_.normal(0, 14, (5, 7)).astype(np.float32), CANVAS, interpolation=cv2.INTER_CUBIC
    )
    return Image.fromarray((np.array(colour, np.float32) + light[..., None]).clip(0, 255).astype(np.uint8))


def clutter(
    scene: Image.Image, centre: tuple[int, int], width: int, height: int, chance: random.Random
) -> None:
    """What surrounds a registration: a row of windows, stripes, a door, patches of other colours."""
    pen = ImageDraw.Draw(scene)
    x, y = centre
    some = lambda: tuple(chance.randint(0, 255) for _ in range(3))  # noqa: E731
    for _ in range(6):
        left, top = chance.randint(0, CANVAS[0]), chance.randint(0, CANVAS[1])
        if abs(top - y) > 2.5 * height or not x - width < left < x + width:
            pen.ellipse((left, top, left + chance.randint(10, 90), top + chance.randint(4, 40)), fill=some())
    if chance.random() < 0.6:
        above, colour = y - round(height * chance.uniform(2, 3.5)), some()
        for left in range(x - 2 * width, x + 2 * width, max(8, height)):
            pen.rounded_rectangle((left, above, left + height * 0.5, above + height * 0.7), 3, fill=colour)
    if chance.random() < 0.5:
        below = y + round(height * chance.uniform(1.2, 3))
        pen.line((0, below, CANVAS[0], below), fill=some(), width=max(2, height // 4))
    if chance.random() < 0.4:
        side = x + round(width * chance.choice((-0.9, 0.75)))
        pen.rounded_rectangle((side, y - 2 * height, side + height, y + height), 5, outline=some(), width=2)


def photographed(scene: Image.Image, noise: int, seed: int) -> bytes:
    random_ = np.random.default_rng(seed + noise)
    grainy = np.asarray(scene, np.float32) + random_.normal(0, noise, (*scene.size[::-1], 1))
    buffer = io.BytesIO()
    Image.fromarray(grainy.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def plain(path: Path, sample: Sample) -> bool:
    """pytesseract as it comes, sparse text; whether any of its words is the registration."""
    with Image.open(path) as image:
        read = pytesseract.image_to_string(image.crop(sample.crop), config="--psm 11")
    return sample.text in {normalised(word) for line in read.splitlines() for word in (line, *line.split())}


def ours(engine: OcrEngine) -> Callable[[Path, Sample], bool]:
    """Our tool with an engine; whether its first registration is the one that was drawn."""

    def read(path: Path, sample: Sample) -> bool:
        names = ("x1", "y1", "x2", "y2")
        arguments = {"mode": "registration", **dict(zip(names, sample.crop, strict=True))}
        context = HostContext(path, out=path.parent, ocr_engine=engine)
        result = call_tool(get_tool("ocr"), arguments, context, door="command")
        assert result.ok, result.text
        return [mark["text"] for mark in result.data["registrations"]][:1] == [sample.text]

    return read


READERS: dict[str, Callable[[Path, Sample], bool]] = {
    "Tesseract raw": plain,
    "ours, Tesseract": ours("tesseract"),
    "ours, RapidOCR": ours("rapidocr"),
}


def cpu_seconds() -> float:
    """Of this process and of all that it waited for."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


@dataclass(frozen=True)
class Trial:
    """One reader on one picture."""

    reader: str
    condition: Condition
    right: bool
    cpu: float


def trials(each: int, seed: int) -> Iterator[Trial]:
    """Every reader on the same `each` pictures of every condition."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.jpg"
        for numbers in product(HEIGHTS, ROTATIONS, NOISE, range(each)):
            condition = Condition(*numbers[:3])
            sample = draw(condition, seed + numbers[3])
            path.write_bytes(sample.picture)
            for reader, read in READERS.items():
                before = cpu_seconds()
                right = read(path, sample)
                yield Trial(reader, condition, right, cpu_seconds() - before)
