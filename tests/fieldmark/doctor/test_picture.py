"""The probe's picture: the same for the same seed, and read by what it shows."""

from __future__ import annotations

import io

import pytesseract
from PIL import Image

from fieldmark.doctor.picture import SIDE, draw


def test_the_same_seed_draws_the_same_picture() -> None:
    assert draw(7) == draw(7)
    assert len({(draw(seed).colour, draw(seed).number) for seed in range(20)}) > 15


def test_the_number_can_be_read_and_the_colour_fills_the_picture() -> None:
    for seed in (1, 2, 3):
        probe = draw(seed)
        picture = Image.open(io.BytesIO(probe.png))
        assert picture.size == (SIDE, SIDE)
        read = pytesseract.image_to_string(picture.convert("L"), config="--psm 7 digits").strip()
        assert read == probe.number


def test_only_the_colour_and_number_of_the_picture_count_as_seen() -> None:
    probe = draw(1)
    assert probe.sees(f"The number {probe.number} on a {probe.colour} background.") == (True, True)
    assert probe.sees("I cannot see any picture.") == (False, False)
    assert probe.sees(f"red green blue yellow black orange {probe.number} 10 11") == (False, False)
