"""compare_images on real photos: what is verified, what proves nothing, and pictures from the web."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps

import fieldmark
from fieldmark.errors import ToolError
from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.context import Page
from fieldmark.tools.image_index.local_index import LocalIndex
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, RecordingContext, jpeg, png, rgb

MINI = Path(fieldmark.__file__).parent / "evals/benchmarks/fieldmark_mini"
URL = "https://photos.example/a.jpg"
LEUVEN, COFFEE = MINI / "images/m17.jpg", MINI / "images/m07.png"


@pytest.fixture(scope="module")
def index() -> LocalIndex:
    return LocalIndex.open(MINI / "index")


def compare(context: RecordingContext, other: str, **arguments: Any) -> ToolResult:
    return call_tool(get_tool("compare_images"), {"other": other, **arguments}, context, door="graph")


def sheet(context: RecordingContext, result: ToolResult) -> Image.Image:
    [picture] = result.pictures
    path = context.file(picture)
    assert path is not None
    image = Image.open(path)
    assert (picture.media_type, picture.width, picture.height) == ("image/jpeg", *image.size)
    return image


Web = Callable[..., RecordingContext]


@pytest.fixture
def web(context_of: ContextOf) -> Web:
    """`web(image, body, http=404)`: a task picture, and what stands at every URL."""

    def make(
        image: Image.Image, body: bytes, *, http: int = 200, truncated: bool = False
    ) -> RecordingContext:
        def fetch(url: str) -> tuple[bytes, Page]:
            return body, Page(url, url, http, "image/jpeg", bytes=len(body), truncated=truncated)

        return context_of(image, fetch=fetch)

    return make


def test_a_second_view_of_a_street_is_verified_and_where(context_of: ContextOf, index: LocalIndex) -> None:
    context = context_of(Image.open(LEUVEN), index=index)
    hits = context.reverse_image(None, 1)["hits"]
    result = compare(context, hits[0]["image"])
    assert result.text.startswith("The same object or scene, verified:")
    assert result.data["same_object"] is True
    assert result.data["key_points"] > 50
    assert hits[0]["title"] not in result.text  # pixels and figures only
    [region] = result.regions
    assert region.label == "match"
    assert 0 <= region.box[0] < region.box[2] <= context.image.width
    assert sheet(context, result).width == 1536


def test_another_thing_is_said_to_prove_nothing(context_of: ContextOf, index: LocalIndex) -> None:
    result = compare(context_of(Image.open(COFFEE), index=index), f"index:{index.arrays.ids[0]}")
    assert (result.ok, result.data["found"], result.data["key_points"]) == (True, False, 0)
    assert "This proves nothing" in result.text
    assert (len(result.pictures), result.regions) == (1, [])


def test_a_copy_from_the_web_is_the_same_picture(web: Web) -> None:
    photo = Image.open(COFFEE).convert("RGB")
    copy = jpeg(photo.resize((300, 200)), quality=40)
    result = compare(web(photo, copy), URL)
    assert result.text.startswith("The same picture, or a copy of it")
    assert result.data["other_size"] == [300, 200]


def test_a_box_in_either_picture_is_compared_alone(web: Web) -> None:
    street = Image.open(LEUVEN).convert("RGB")
    two = Image.new("RGB", (street.width, 2 * street.height), "white")
    two.paste(street, (0, street.height))
    context = web(two, png(street))
    lower = {"x1": 0, "y1": 500, "x2": 1000, "y2": 1000, "space": "norm1000"}
    assert compare(context, URL, **lower).data["same_picture"] is True
    upper = {"x1": 0, "y1": 0, "x2": 1000, "y2": 500, "space": "norm1000"}
    assert compare(context, URL, **upper).data["found"] is False
    part = compare(context, URL, other_box=[200, 100, 500, 400])
    assert part.data["other_size"] == [300, 300]
    [region] = part.regions
    assert region.box[1] > street.height + 80  # in the lower half, where that part of the street is


def test_a_mirrored_copy_is_the_same_picture_and_its_place_is_in_the_task_picture(web: Web) -> None:
    street = Image.open(LEUVEN).convert("RGB")
    left = street.crop((0, 0, 400, street.height))
    result = compare(web(street, png(ImageOps.mirror(left))), URL)
    assert result.data["same_object"] is True
    [region] = result.regions
    assert region.box[2] < 420
    assert compare(web(street, png(ImageOps.mirror(street))), URL).data["same_picture"] is True


def test_two_plain_pictures_are_not_called_the_same(web: Web) -> None:
    result = compare(web(Image.new("RGB", (200, 200), "red"), png(Image.new("RGB", (90, 90), "blue"))), URL)
    assert result.data["found"] is False


def test_the_pictures_stand_side_by_side_under_labels(web: Web) -> None:
    context = web(Image.new("RGB", (400, 400), "red"), png(Image.new("RGB", (400, 400), "blue")))
    image = sheet(context, compare(context, URL))
    assert image.size == (1536, 790)
    red, blue = rgb(image, 380, 400), rgb(image, 1150, 400)
    assert red[0] > 200 > red[2]
    assert blue[2] > 200 > blue[0]


@pytest.mark.parametrize(
    ("body", "options", "kind", "words"),
    [
        (b"<!DOCTYPE html><p>A page", {}, "invalid_args", "is no picture"),
        (b"", {}, "invalid_args", "is empty"),
        (jpeg(Image.new("RGB", (300, 300), "red"))[:400], {}, "invalid_args", "truncated"),
        (b"gone", {"http": 404}, "not_found", "HTTP 404"),
        (b"later", {"http": 503}, "unavailable", "HTTP 503"),
        (b"x" * 100, {"truncated": True}, "invalid_args", "take a smaller picture"),
        (png(Image.new("1", (9000, 9000))), {}, "invalid_args", "9000x9000 px is too large"),
    ],
)
def test_what_is_no_picture_is_said_to_be_none(
    web: Web, body: bytes, options: dict[str, Any], kind: str, words: str
) -> None:
    result = compare(web(Image.new("RGB", (50, 50)), body, **options), URL)
    assert result.error_kind == kind
    assert words in result.text


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ("index:999", "not_found"),
        ("index:x", "not_found"),
        ("photo.jpg", "not_found"),
        ("", "invalid_args"),
    ],
)
def test_a_name_that_no_hit_has_is_refused(
    context_of: ContextOf, index: LocalIndex, other: str, kind: str
) -> None:
    result = compare(context_of(Image.new("RGB", (50, 50)), index=index), other)
    assert result.error_kind == kind


def test_a_box_outside_the_found_picture_is_refused(web: Web) -> None:
    context = web(Image.new("RGB", (50, 50)), png(Image.new("RGB", (90, 60))))
    for box in ([100, 0, 200, 50], [10, 10, 10, 50]):
        result = compare(context, URL, other_box=box)
        assert (result.error_kind, "which is 90x60 px" in result.text) == ("invalid_args", True)


def test_what_the_web_policy_denies_stays_denied(context_of: ContextOf) -> None:
    def denied(url: str) -> tuple[bytes, Page]:
        raise ToolError("not a public address", "denied")

    result = compare(context_of(Image.new("RGB", (50, 50)), fetch=denied), "HTTP://127.0.0.1/a.png")
    assert result.error_kind == "denied"


def test_the_sheet_of_a_thin_strip_can_be_made(web: Web) -> None:
    strip = png(Image.new("RGB", (3000, 2), "blue"))
    result = compare(web(Image.new("RGB", (2000, 10), "red"), strip), URL)
    assert result.ok, result.text
