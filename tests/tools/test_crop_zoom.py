"""crop_zoom as models call it: four spaces, and every mistake they make with boxes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, RecordingContext, png, rgb

Call = Callable[..., ToolResult]


@pytest.fixture(scope="module")
def crop(tmp_path_factory: pytest.TempPathFactory, quarters: Image.Image) -> Call:
    folder = tmp_path_factory.mktemp("crop")
    (folder / "picture.png").write_bytes(png(quarters))
    context = RecordingContext(folder / "picture.png", out=folder)
    return lambda **arguments: call_tool(get_tool("crop_zoom"), arguments, context, door="graph")


def box(x1: Any, y1: Any, x2: Any, y2: Any, **more: Any) -> dict[str, Any]:
    return {"x1": x1, "y1": y1, "x2": x2, "y2": y2, **more}


def test_a_crop_is_enlarged_and_refers_to_the_original(context_of: ContextOf, quarters: Image.Image) -> None:
    context = context_of(quarters)
    result = call_tool(get_tool("crop_zoom"), box(100, 50, 400, 300), context, door="graph")
    (picture,) = result.pictures
    assert picture.of == context.image.blob
    assert picture.box == (100, 50, 400, 300)
    assert (picture.width, picture.height) == (768, 640)
    assert "original pixels [100,50,400,300] of the 4000x3000 px image" in result.text
    cut = Image.open(io.BytesIO(context.files[picture.blob].read_bytes()))
    assert cut.size == (768, 640)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (box(342, 308, 670, 766, space="norm1000"), [1368, 924, 2680, 2298]),
        (box(1024, 768, 2048, 1536, space="sent"), [2000, 1500, 4000, 3000]),
        (box(0.5, 0.5, 1, 1, space="fraction"), [2000, 1500, 4000, 3000]),
        (box("100", "50", "400", "300.0"), [100, 50, 400, 300]),
    ],
)
def test_spaces_and_number_strings(crop: Call, arguments: dict[str, Any], expected: list[float]) -> None:
    result = crop(**arguments)
    assert result.ok
    assert result.data["box"] == pytest.approx(expected, abs=1)


def test_the_right_part_is_shown(context_of: ContextOf, quarters: Image.Image) -> None:
    context = context_of(quarters)
    result = call_tool(get_tool("crop_zoom"), box(0, 500, 400, 900, space="norm1000"), context, door="graph")
    pixels = Image.open(context.files[result.pictures[0].blob]).convert("RGB")
    assert rgb(pixels, 10, 10)[2] > 150  # blue: bottom left


@pytest.mark.parametrize(
    ("arguments", "used", "says"),
    [
        (box(600, 400, 100, 50), [100, 50, 600, 400], "sorted (expected x1,y1 = left,top"),
        (box(800, 600, 200, 150), [200, 150, 800, 600], "the image is 4000x3000 px"),
        (box(3900, 2900, 4400, 3300), [3900, 2900, 4000, 3000], "clamped"),
        (box(0, 0, 1e308, 100), [0, 0, 4000, 100], "clamped"),
        (box(0, 0, 400, 300, zoom=1000), [0, 0, 400, 300], "lowered"),
    ],
)
def test_what_was_mended_is_said(crop: Call, arguments: dict[str, Any], used: list[float], says: str) -> None:
    result = crop(**arguments)
    assert result.data["box"] == used
    assert says in result.text


@pytest.mark.parametrize("arguments", [box(10.2, 10.2, 10.9, 10.9), box(10, 10, 11, 11), box(0, 5, 4000, 6)])
def test_tiny_boxes_grow_until_a_model_can_take_them(crop: Call, arguments: dict[str, Any]) -> None:
    result = crop(**arguments)
    assert min(result.pictures[0].width, result.pictures[0].height) >= 28
    assert "expanded around its centre" in result.text


def test_an_enormous_zoom_stays_within_bounds(crop: Call) -> None:
    assert crop(**box(0, 0, 400, 300, zoom=1000)).pictures[0].width == 1536


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (box(5000, 5000, 5200, 5200), "outside the image"),
        (box(100, 100, 100, 300), "empty box"),
        (box("NaN", 0, 100, 100), "x1"),
        (box(float("nan"), 0, 100, 100), "x1"),
        (box(0, 0, "Infinity", 100), "x2"),
        (box(0, 0, float("inf"), 100), "x2"),
        (box(None, 0, 100, 100), "x1"),
        (box(True, 0, 100, 100), "x1"),
        (box("12px", 0, 100, 100), "x1"),
        (box(0, 0, "1,000", 100), "x2"),
        (box(0, 0, "1e3", 100), "x2"),
        (box(0, 0, "50%", 100), "x2"),
        (box("１０", 0, 100, 100), "x1"),
        (box(10**400, 0, 100, 100), "x1"),
        (box(0, 0, 400, 300, zoom=0), "zoom"),
        (box(0, 0, 400, 300, zoom=-2), "zoom"),
        (box(0, 0, 400, 300, space="percent"), "space"),
        ({"bbox": [0, 0, 10, 10]}, "bbox: unknown argument"),
        ({"x1": 0, "y1": 0, "x2": 100}, "y2: missing"),
    ],
)
def test_bad_boxes_are_refused_with_field_and_image_size(crop: Call, arguments: Any, says: Any) -> None:
    result = crop(**arguments)
    assert not result.ok
    assert result.error_kind == "invalid_args"
    assert says in (result.error or "")
    assert "4000x3000 px" in (result.error or "")


def test_a_strip_that_no_model_takes_is_refused(context_of: ContextOf) -> None:
    context = context_of(Image.new("RGB", (5600, 28)))
    result = call_tool(get_tool("crop_zoom"), box(0, 0, 5600, 28), context, door="graph")
    assert "too long a strip" in (result.error or "")
    assert call_tool(get_tool("crop_zoom"), box(0, 0, 500, 28), context, door="graph").ok
