"""The space of coordinates that a model is known or told to use, as its tools say and read it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from PIL import Image

from fieldmark.task import Space
from fieldmark.tools.base import schema
from fieldmark.tools.boxes import space_of
from fieldmark.tools.calling import call_tool
from fieldmark.tools.registry import get_tool, offered_tool, tool_names
from tests.tools.pictures import RecordingContext, png

WITH_A_BOX = ("crop_zoom", "ocr", "reverse_image_search")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, quarters: Image.Image) -> RecordingContext:
    folder = tmp_path_factory.mktemp("boxes")
    (folder / "picture.png").write_bytes(png(quarters))
    return RecordingContext(folder / "picture.png", out=folder)


@pytest.mark.parametrize(
    ("model", "space"),
    [
        ("qwen3-vl-8b", "norm1000"),
        ("Qwen/Qwen3-VL-235B-A22B-Instruct", "norm1000"),
        ("qwen2.5-vl-7b-instruct", "sent"),
        ("Qwen2_5_VL", "sent"),
        ("zai-org/GLM-4.5V", "norm1000"),
        ("gpt-5-mini", "pixel"),
        ("qwen3-8b", "pixel"),
        ("builtin/scout", "pixel"),
    ],
)
def test_what_is_known_of_a_family(model: str, space: str) -> None:
    assert space_of(model) == space


@pytest.mark.parametrize("space", get_args(Space))
@pytest.mark.parametrize("name", WITH_A_BOX)
def test_the_tool_says_its_default_in_description_and_schema(name: str, space: Space) -> None:
    function = schema(offered_tool(name, space))["function"]
    spec = function["parameters"]["properties"]["space"]
    assert f"(space={space})" in function["description"]
    assert spec["default"] == space
    assert spec["description"].count("(default)") == 1
    assert spec["enum"] == list(get_args(Space))


def test_a_tool_without_a_box_is_the_same_in_every_space() -> None:
    for name in set(tool_names()) - set(WITH_A_BOX):
        tool = get_tool(name)
        assert "space" in tool.args.model_fields or offered_tool(name, "norm1000") is tool


@pytest.mark.parametrize(
    ("space", "arguments", "expected"),
    [
        pytest.param("norm1000", (342, 308, 670, 766), [1368, 924, 2680, 2298], id="2-01"),
        pytest.param("sent", (1024, 768, 2048, 1536), [2000, 1500, 4000, 3000], id="2-03"),
        pytest.param("fraction", (0.5, 0, 1, 0.5), [2000, 0, 4000, 1500], id="fraction"),
        pytest.param("pixel", (100, 50, 400, 300), [100, 50, 400, 300], id="pixel"),
    ],
)
def test_a_box_without_a_space_is_read_in_the_default(
    context: RecordingContext, space: Space, arguments: Any, expected: Any
) -> None:
    box = dict(zip(("x1", "y1", "x2", "y2"), arguments, strict=True))
    result = call_tool(offered_tool("crop_zoom", space), box, context, door="graph")
    assert result.data["box"] == pytest.approx(expected, abs=1)


def test_a_named_space_goes_over_the_default(context: RecordingContext) -> None:
    box = {"x1": 0, "y1": 0, "x2": 400, "y2": 300, "space": "pixel"}
    result = call_tool(offered_tool("crop_zoom", "norm1000"), box, context, door="graph")
    assert result.data["box"] == [0, 0, 400, 300]
