"""A copy is verified and located after what copies go through; another photo of the same thing is none."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from fieldmark.errors import DataFault
from fieldmark.evals.curation.leakage.overlay import draw
from fieldmark.evals.curation.leakage.verifying import Picture, likeness
from fieldmark.evals.curation.settings import LeakageSettings
from fieldmark.tools.image_index.features import describe_both_of

MINI = Path(__file__).parents[4] / "evals" / "benchmarks" / "fieldmark_mini"
PHOTO, STRANGER = MINI / "images" / "m05.jpg", MINI / "images" / "m10.jpg"
SETTINGS = LeakageSettings()


def picture(image: Image.Image) -> Picture:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return Picture(buffer.getvalue())


@pytest.fixture(scope="module")
def photo() -> Image.Image:
    return Image.open(PHOTO).convert("RGB")


def in_a_page(image: Image.Image) -> Image.Image:
    page = Image.new("RGB", (1200, 900), "white")
    page.paste(ImageOps.contain(image, (400, 400)), (700, 120))
    ImageDraw.Draw(page).text((40, 60), "A page about something else", fill="black", font_size=40)
    return page


CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "cropped": lambda i: i.crop((i.width // 4, i.height // 4, i.width, i.height)),
    "turned": lambda i: i.rotate(20, expand=True),
    "mirrored": ImageOps.mirror,
    "in a page": in_a_page,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_copy_is_a_copy(photo: Image.Image, change: str) -> None:
    assert likeness(picture(photo), picture(CHANGES[change](photo))).score >= SETTINGS.copy_from


def test_a_crop_of_a_soft_and_dim_photo_is_a_copy_and_of_another_is_none(photo: Image.Image) -> None:
    """Few key points stand out in it, as in a sky: weak ones count then."""
    soft, other = (soft_and_dim(image) for image in (photo, Image.open(STRANGER).convert("RGB")))
    assert len(describe_both_of(soft)[0].points) < 100
    assert likeness(picture(soft), picture(CHANGES["cropped"](soft))).score >= SETTINGS.copy_from
    assert likeness(picture(soft), picture(CHANGES["cropped"](other))).score < SETTINGS.doubt_from


def soft_and_dim(image: Image.Image) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(max(image.size) / 60)).point(lambda value: value * 0.25)


def test_it_is_said_where_the_copy_lies_in_the_page(photo: Image.Image) -> None:
    found = likeness(picture(photo), picture(in_a_page(photo)))
    size = ImageOps.contain(photo, (400, 400)).size
    assert found.region == pytest.approx((700, 120, 700 + size[0], 120 + size[1]), abs=6)
    assert found.own == pytest.approx((0, 0, *photo.size), abs=6)


def test_a_mirrored_crop_is_located_in_the_picture_itself(photo: Image.Image) -> None:
    half = photo.crop((0, 0, photo.width // 2, photo.height))
    found = likeness(picture(photo), picture(ImageOps.mirror(half)))
    assert found.own == pytest.approx((0, 0, photo.width // 2, photo.height), abs=6)


def test_a_stranger_is_no_copy_and_in_no_doubt(photo: Image.Image) -> None:
    assert likeness(picture(photo), Picture(STRANGER.read_bytes())).score < SETTINGS.doubt_from


def test_the_overlay_lays_ours_over_the_found_one(photo: Image.Image, tmp_path: Path) -> None:
    ours, theirs = picture(photo), picture(in_a_page(photo))
    draw(ours, theirs, likeness(ours, theirs), tmp_path / "made" / "overlay.jpg")
    with Image.open(tmp_path / "made" / "overlay.jpg") as sheet:
        assert sheet.width > 2 * 640


def test_what_is_no_picture_is_a_data_fault() -> None:
    with pytest.raises(DataFault):
        Picture(b"<html>no picture</html>")
