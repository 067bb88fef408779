"""crop_zoom as models call it: four spaces, and every mistake they make with boxes.

Rows named `2-..` are the cases of public bug reports about boxes.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, RecordingContext, lettered, png, rgb

Call = Callable[..., ToolResult]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, quarters: Image.Image) -> RecordingContext:
    folder = tmp_path_factory.mktemp("crop")
    (folder / "picture.png").write_bytes(png(quarters))
    return RecordingContext(folder / "picture.png", out=folder)


@pytest.fixture(scope="module")
def crop(context: RecordingContext) -> Call:
    return lambda **arguments: call_tool(get_tool("crop_zoom"), arguments, context, door="graph")


def box(x1: Any, y1: Any, x2: Any, y2: Any, **more: Any) -> dict[str, Any]:
    return {"x1": x1, "y1": y1, "x2": x2, "y2": y2, **more}


def test_a_crop_is_enlarged_and_refers_to_the_original(context: RecordingContext, crop: Call) -> None:
    result = crop(**box(100, 50, 400, 300))
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
        pytest.param(box(342, 308, 670, 766, space="norm1000"), [1368, 924, 2680, 2298], id="2-01"),
        pytest.param(box(1024, 768, 2048, 1536, space="sent"), [2000, 1500, 4000, 3000], id="2-03"),
        pytest.param(box(0.5, 0.5, 1, 1, space="fraction"), [2000, 1500, 4000, 3000], id="fraction"),
        pytest.param(box("100", "50", "400", "300.0"), [100, 50, 400, 300], id="2-09"),
        pytest.param(
            box(0, 0, 40, 40, space=None, zoom=None, rotate=None, contrast=None), [0, 0, 40, 40], id="null"
        ),
        pytest.param(box("-1", "+0.5", " 40 ", "40"), [0, 0, 40, 40], id="2-09 signs and blanks"),
        pytest.param(box(100.2, 50.7, 399.1, 299.5), [100, 50, 400, 300], id="odd numbers"),
    ],
)
def test_spaces_and_number_strings(crop: Call, arguments: dict[str, Any], expected: list[float]) -> None:
    result = crop(**arguments)
    assert result.ok
    assert result.data["box"] == pytest.approx(expected, abs=1)


def test_the_right_part_is_shown(context: RecordingContext, crop: Call) -> None:
    result = crop(**box(0, 500, 400, 900, space="norm1000"))
    pixels = Image.open(context.files[result.pictures[0].blob]).convert("RGB")
    assert rgb(pixels, 10, 10)[2] > 150  # blue: bottom left


@pytest.mark.parametrize(
    ("arguments", "used", "says"),
    [
        pytest.param(
            box(600, 400, 100, 50), [100, 50, 600, 400], "sorted (expected x1,y1 = left,top", id="2-04"
        ),
        pytest.param(box(800, 600, 200, 150), [200, 150, 800, 600], "the image is 4000x3000 px", id="2-13"),
        pytest.param(box(3900, 2900, 4400, 3300), [3900, 2900, 4000, 3000], "clamped", id="2-05"),
        pytest.param(box(-50, -50, 60, 1e9), [0, 0, 60, 3000], "clamped", id="2-05 on three sides"),
        pytest.param(box(0, 0, 1e308, 100), [0, 0, 4000, 100], "clamped", id="2-11"),
        pytest.param(box(0, 0, 400, 300, zoom=1000), [0, 0, 400, 300], "lowered", id="2-15"),
        pytest.param(box(0, 0, 400, 300, zoom=1e-9), [0, 0, 400, 300], "raised", id="2-15 the other way"),
    ],
)
def test_what_was_mended_is_said(crop: Call, arguments: dict[str, Any], used: list[float], says: str) -> None:
    result = crop(**arguments)
    assert result.data["box"] == used
    assert says in result.text


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(box(10.2, 10.2, 10.9, 10.9), id="2-08 under a pixel"),
        pytest.param(box(10, 10, 11, 11), id="2-08 a pixel"),
        pytest.param(box(3999.5, 2999.5, 4000, 3000), id="in the corner"),
        pytest.param(box(0, 5, 4000, 6), id="a line"),
        pytest.param(box(0, 0, 100, 1, zoom=0.3), id="a line with a zoom"),
        pytest.param(box(10, 10, 11, 11, rotate=33), id="turned"),
    ],
)
def test_tiny_boxes_grow_until_a_model_can_take_them(crop: Call, arguments: dict[str, Any]) -> None:
    result = crop(**arguments)
    assert min(result.pictures[0].width, result.pictures[0].height) >= 28
    assert "expanded around its centre" in result.text


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(box(0, 0, 400, 300, zoom=1000), id="2-15"),
        pytest.param(box(10.2, 10.2, 105.9, 30.1, zoom=1000), id="of part of a pixel"),
        pytest.param(box(0, 0, 4000, 3000, rotate=45), id="turned"),
        pytest.param(box(100.5, 7.3, 900.1, 20.9, rotate=-12.5, zoom=50), id="turned and zoomed"),
        pytest.param(box(0, 100, 4000, 101, rotate=33), id="a thin strip turned"),
        pytest.param(box(0, 0, 1, 1, space="fraction", zoom=1, rotate=90), id="all of it on its side"),
    ],
)
def test_no_side_passes_the_limit(crop: Call, arguments: dict[str, Any]) -> None:
    (picture,) = crop(**arguments).pictures
    assert 1000 < max(picture.width, picture.height) <= 1536


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(box(5000, 5000, 5200, 5200), "outside the image", id="2-05"),
        pytest.param(box(100, 100, 100, 300), "empty box", id="2-07"),
        pytest.param(box("NaN", 0, 100, 100), "x1", id="2-11 n1"),
        pytest.param(box(float("nan"), 0, 100, 100), "x1", id="2-11 n2"),
        pytest.param(box(0, 0, "Infinity", 100), "x2", id="2-11 n3"),
        pytest.param(box(0, 0, float("inf"), 100), "x2", id="2-11 n4"),
        pytest.param(box(None, 0, 100, 100), "x1", id="2-11 null"),
        pytest.param(box(True, 0, 100, 100), "x1", id="2-11 true"),
        pytest.param(box("12px", 0, 100, 100), "x1", id="2-12 px"),
        pytest.param(box(0, 0, "1,000", 100), "x2", id="2-12 comma"),
        pytest.param(box(0, 0, "1e3", 100), "x2", id="2-12 e"),
        pytest.param(box(0, 0, "50%", 100), "x2", id="2-12 percent"),
        pytest.param(box("１０", 0, 100, 100), "x1", id="2-12 wide"),
        (box(10**400, 0, 100, 100), "x1"),
        pytest.param(box(0, 0, 400, 300, zoom=0), "zoom", id="2-15 zero"),
        pytest.param(box(0, 0, 400, 300, zoom=-2), "zoom", id="2-15 below"),
        (box(0, 0, 400, 300, space="percent"), "space"),
        (box(0, 0, 400, 300, rotate="90°"), "rotate"),
        (box(0, 0, 400, 300, rotate=float("inf")), "rotate"),
        (box(0, 0, 400, 300, contrast="high"), "contrast"),
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


@pytest.mark.parametrize(
    ("rotate", "top_left", "says"),
    [
        (90, "blue", "Turned 90 degrees clockwise."),
        (-270, "blue", "Turned 90 degrees clockwise."),
        (180, "white", "Turned 180 degrees clockwise."),
        ("270", "green", "Turned 270 degrees clockwise."),
        (0, "red", "(scale 1)"),
        (360, "red", "(scale 1)"),
    ],
)
def test_right_angles_are_exact(
    context: RecordingContext, crop: Call, rotate: Any, top_left: str, says: str
) -> None:
    result = crop(**box(1500, 1100, 2500, 1900, zoom=1, rotate=rotate))
    (picture,) = result.pictures
    colours = {"red": (200, 0, 0), "green": (0, 200, 0), "blue": (0, 0, 200), "white": (200, 200, 200)}
    pixels = Image.open(context.files[picture.blob])
    assert rgb(pixels, 10, 10) == pytest.approx(colours[top_left], abs=6)
    assert picture.box == (1500, 1100, 2500, 1900)
    assert (picture.width, picture.height) == ((800, 1000) if int(rotate) % 180 else (1000, 800))
    assert says in result.text


def test_tilted_text_is_levelled(context_of: ContextOf) -> None:
    """Dark letters that rise by 20 degrees stand level when turned by 20 degrees clockwise."""
    tilted = context_of(lettered("N8710M", 60, angle=20))
    result = call_tool(
        get_tool("crop_zoom"), box(200, 100, 800, 600, zoom=1, rotate=20), tilted, door="graph"
    )
    (picture,) = result.pictures
    dark = np.asarray(Image.open(tilted.files[picture.blob]).convert("L")) < 80
    rows, columns = np.nonzero(dark)
    assert np.ptp(columns) > 4 * np.ptp(rows)
    assert picture.box == (200, 100, 800, 600)
    assert picture.rotate == 20
    assert "Turned 20 degrees clockwise; the grey corners are not part of the image." in result.text
    assert result.data["rotate"] == 20


def test_contrast_brings_out_what_is_dark_and_says_how(context_of: ContextOf) -> None:
    night = Image.new("RGB", (400, 300), (20, 24, 30))
    night.paste((52, 50, 48), (100, 100, 300, 200))
    context = context_of(night)
    result = call_tool(
        get_tool("crop_zoom"), box(0, 0, 400, 300, zoom=1, contrast="auto"), context, door="graph"
    )
    (picture,) = result.pictures
    pixels = Image.open(context.files[picture.blob])
    assert max(rgb(pixels, 10, 10)) < 70
    assert min(rgb(pixels, 200, 150)) > 220
    low, high = picture.levels or (0, 0)
    assert f"Contrast: brightness {low}-{high} has been stretched to 0-255." in result.text
    assert (picture.contrast, result.data["contrast"]) == ("auto", "auto")


def test_what_has_one_brightness_is_left_as_it_was(crop: Call) -> None:
    result = crop(**box(10, 10, 400, 400, contrast="auto"))
    assert result.ok
    assert "Contrast: brightness left as it was." in result.text


def test_a_plain_crop_says_nothing_of_turns_and_contrast(crop: Call) -> None:
    result = crop(**box(0, 0, 400, 300))
    assert not {"rotate", "contrast", "levels"} & set(result.data)
    assert not {"rotate", "contrast", "levels"} & set(result.pictures[0].model_dump(exclude_none=True))
