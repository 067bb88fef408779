"""A screenshot of a page is searched by the picture it shows, not by its text; others are no pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageOps

from fieldmark.tools.image_index.building import build
from fieldmark.tools.image_index.framed import pictures_in_page
from fieldmark.tools.image_index.local_index import LocalIndex

PHOTOS = Path(__file__).parents[2] / "evals" / "benchmarks" / "fieldmark_mini" / "images"
AT = (720, 160)


def photo(name: str) -> Image.Image:
    return Image.open(PHOTOS / name).convert("RGB")


def page(*shown: Image.Image) -> Image.Image:
    """Text on the left, the pictures one under another on the right."""
    made = Image.new("RGB", (1280, 900), "#f4f1ea")
    pen = ImageDraw.Draw(made)
    for line in range(30):
        pen.text((40, 40 + 27 * line), "what a reader saw abroad and sent to us", fill="#222", font_size=17)
    top = AT[1]
    for image in shown:
        made.paste(image, (AT[0], top))
        top += image.height + 30
    return made


def test_the_pictures_of_a_page_are_framed_largest_first() -> None:
    large, small = (ImageOps.contain(photo("m05.jpg"), (side, side)) for side in (420, 200))
    first, second = pictures_in_page(page(small, large))
    top = 160 + small.height + 30
    assert first == pytest.approx((720, top, 720 + large.width, top + large.height), abs=4)
    assert second == pytest.approx((*AT, 720 + small.width, 160 + small.height), abs=4)


def test_a_photo_and_a_page_of_text_alone_frame_nothing() -> None:
    assert pictures_in_page(photo("m05.jpg")) == []
    assert pictures_in_page(page()) == []


def test_a_page_is_found_by_its_picture(tmp_path: Path) -> None:
    shown = photo("m05.jpg")
    page(ImageOps.contain(shown, (480, 400))).save(tmp_path / "page.png")
    for other in sorted(PHOTOS.glob("m1*.jpg")):
        photo(other.name).save(tmp_path / other.name)
    build(tmp_path, processes=0)
    best = LocalIndex.open(tmp_path).query((PHOTOS / "m05.jpg").read_bytes(), 3)[0]
    assert (best.entity, best.same_picture) == ("page", False)
    assert best.score > 0.8
