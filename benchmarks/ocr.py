"""Reading registrations: exact matches by height, rotation and noise, and CPU time, three ways side by side.

Drawn registrations in three typefaces and many colours on cloudy, cluttered backgrounds. All read the same
wide crop: plain pytesseract (any of its words may match), and our tool `ocr` in `registration` mode with
Tesseract and with RapidOCR (its first registration must match). Read the ratios; times move with the machine.
Change nothing by what SEED shows: draw with another `--seed` for that.

    make bench    or    .venv/bin/python -m benchmarks.ocr --each 2 --write
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import cv2
import numpy as np
import pytesseract
from PIL import Image, ImageDraw, ImageFont

from benchmarks._tables import write_section
from fieldmark.task import OcrEngine
from fieldmark.tools.calling import call_tool
from fieldmark.tools.outside import HostContext
from fieldmark.tools.reading.engine import get_engine
from fieldmark.tools.reading.registrations import normalised
from fieldmark.tools.registry import get_tool

HEIGHTS = (12, 16, 20, 24, 32, 40)
ROTATIONS = (0, 5, 10, 20, 90)
NOISE = (0, 10, 25)
SEED = 2026
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
FORMS = ("N###@@", "N####@", "N#####", "G-@@@@", "D-A@@@", "VH-@@@", "B-####", "JA###@", "PH-@@@", "9V-@@@")
Colour = tuple[int, int, int]
CANVAS = (1000, 700)
WHAT = (
    "Registrations drawn in three typefaces and many colours on clouds and clutter; exact matches. Height is "
    "that of the capitals, noise the standard deviation in grey levels. *Raw*: pytesseract, sparse text, any "
    "of its words; *ours*: the tool `ocr`, mode `registration`, its first registration. Made by "
    "`python -m benchmarks.ocr --write`."
)


@dataclass(frozen=True)
class Condition:
    """Height of the capitals in px, rotation in degrees, standard deviation of grain in grey levels."""

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
    return Sample(text, photographed(scene, condition.noise, chance), box)


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


def colour(chance: random.Random) -> Colour:
    return (chance.randint(0, 255), chance.randint(0, 255), chance.randint(0, 255))


def colours(chance: random.Random) -> tuple[Colour, Colour]:
    """A background and an ink whose brightness differs by at least 70 of 255."""
    while True:
        pair = colour(chance), colour(chance)
        bright = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in pair]
        if abs(bright[0] - bright[1]) >= 70:
            return pair


def clouds(plain: Colour, chance: random.Random) -> Image.Image:
    """Light that varies slowly over a plain colour."""
    random_ = np.random.default_rng(chance.randint(0, 2**32))
    light = cv2.resize(
        random_.normal(0, 14, (5, 7)).astype(np.float32), CANVAS, interpolation=cv2.INTER_CUBIC
    )
    return Image.fromarray((np.array(plain, np.float32) + light[..., None]).clip(0, 255).astype(np.uint8))


def clutter(
    scene: Image.Image, centre: tuple[int, int], width: int, height: int, chance: random.Random
) -> None:
    """What surrounds a registration: a row of windows, stripes, a door, patches of other colours."""
    pen = ImageDraw.Draw(scene)
    x, y = centre
    for _ in range(6):
        left, top = chance.randint(0, CANVAS[0]), chance.randint(0, CANVAS[1])
        if abs(top - y) > 2.5 * height or not x - width < left < x + width:
            pen.ellipse(
                (left, top, left + chance.randint(10, 90), top + chance.randint(4, 40)), fill=colour(chance)
            )
    if chance.random() < 0.6:
        above, glass = y - round(height * chance.uniform(2, 3.5)), colour(chance)
        for left in range(x - 2 * width, x + 2 * width, max(8, height)):
            pen.rounded_rectangle((left, above, left + height * 0.5, above + height * 0.7), 3, fill=glass)
    if chance.random() < 0.5:
        below = y + round(height * chance.uniform(1.2, 3))
        pen.line((0, below, CANVAS[0], below), fill=colour(chance), width=max(2, height // 4))
    if chance.random() < 0.4:
        side = x + round(width * chance.choice((-0.9, 0.75)))
        pen.rounded_rectangle(
            (side, y - 2 * height, side + height, y + height), 5, outline=colour(chance), width=2
        )


def photographed(scene: Image.Image, noise: int, chance: random.Random) -> bytes:
    random_ = np.random.default_rng(chance.randint(0, 2**32))
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
        for *numbers, at in product(HEIGHTS, ROTATIONS, NOISE, range(each)):
            condition = Condition(*numbers)
            sample = draw(condition, seed + at)
            path.write_bytes(sample.picture)
            for reader, read in READERS.items():
                before = cpu_seconds()
                right = read(path, sample)
                yield Trial(reader, condition, right, cpu_seconds() - before)


def table(seen: Sequence[Trial]) -> str:
    """Markdown: a row for each height, rotation and noise level, over all the other conditions."""
    lines = [f"| | pictures | {' | '.join(READERS)} |", f"|---|{'---|' * (1 + len(READERS))}"]
    for name, levels, unit in (
        ("height", HEIGHTS, " px"),
        ("rotation", ROTATIONS, "°"),
        ("noise", NOISE, ""),
    ):
        for level in levels:
            chosen = [trial for trial in seen if getattr(trial.condition, name) == level]
            lines.append(row(f"{name} {level}{unit}", chosen))
    lines.append(row("all", seen))
    cpu = {
        reader: statistics.mean(trial.cpu for trial in seen if trial.reader == reader) for reader in READERS
    }
    least = min(cpu.values())
    lines.append(f"| CPU time | | {' | '.join(f'{cpu[reader] / least:.1f} x' for reader in READERS)} |")
    return "\n".join(lines)


def row(name: str, seen: Sequence[Trial]) -> str:
    rights = {reader: [trial.right for trial in seen if trial.reader == reader] for reader in READERS}
    shares = [f"{100 * statistics.mean(right):.0f} %" for right in rights.values()]
    return f"| {name} | {len(seen) // len(READERS)} | {' | '.join(shares)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--each", type=int, default=1, help="pictures of each condition")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help="put the table into docs/tools.md")
    options = parser.parse_args()
    get_engine("rapidocr")  # loaded before anything is timed
    text = table(list(trials(options.each, options.seed)))
    print(text)
    if options.write:
        write_section("ocr", f"{WHAT}\n\n{text}")


if __name__ == "__main__":
    main()
