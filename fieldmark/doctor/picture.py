"""A picture that only one who sees it can describe: a number on a patch of one colour."""

from __future__ import annotations

import io
import random
import re
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

SIDE = 448
"""Pixels of each side: a multiple of 14, 16, 28 and 32, the patches that vision models cut pictures into."""
_COLOURS = {
    "red": (208, 24, 24),
    "green": (16, 136, 48),
    "blue": (24, 56, 208),
    "yellow": (248, 220, 24),
    "black": (16, 16, 16),
    "orange": (248, 128, 8),
}
_LIGHT = {"yellow", "orange"}


@dataclass(frozen=True)
class ProbePicture:
    """`png` is the file, (SIDE, SIDE, 3); `colour` fills it, `number` (two digits) stands in its middle."""

    png: bytes
    colour: str
    number: str

    def sees(self, text: str) -> tuple[bool, bool]:
        """Whether a text names the colour, and the number: nothing else, so that a list of all is no hit."""
        words = set(re.findall(r"[a-z]+", text.lower())) & _COLOURS.keys()
        return words == {self.colour}, set(re.findall(r"\d+", text)) == {self.number}


def draw(seed: int) -> ProbePicture:
    """The picture of a seed: 6 colours × 90 numbers, so that guessing both right is a chance of 1 in 540."""
    chance = random.Random(seed)
    colour, number = chance.choice(sorted(_COLOURS)), str(chance.randint(10, 99))
    picture = Image.new("RGB", (SIDE, SIDE), _COLOURS[colour])
    ImageDraw.Draw(picture).text(
        (SIDE / 2, SIDE / 2), number, anchor="mm", font=ImageFont.load_default(SIDE // 2),
        fill="black" if colour in _LIGHT else "white",
    )  # fmt: skip
    out = io.BytesIO()
    picture.save(out, "PNG")
    return ProbePicture(out.getvalue(), colour, number)
