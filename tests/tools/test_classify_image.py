"""classify_image as a model calls it: a guess with its limits said."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

import fieldmark
from fieldmark.tools.calling import call_tool
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf

PHOTOS = Path(fieldmark.__file__).parent / "evals/benchmarks/fieldmark_mini"


def test_a_likely_class_is_said_to_be_a_guess(context_of: ContextOf) -> None:
    context = context_of(Image.open(PHOTOS / "images/m07.png"))
    result = call_tool(get_tool("classify_image"), {"limit": 2}, context, door="graph")
    assert result.ok
    assert result.text.startswith(
        "Likeliest of 1,000 ImageNet classes for the whole image; a guess to verify"
    )
    assert "espresso (drink)" in result.text
    assert result.data["classes"][0]["name"] == "espresso"
    assert len(result.data["classes"]) == 2


def test_a_low_best_score_is_said_to_fit_nothing(context_of: ContextOf) -> None:
    context = context_of(Image.open(PHOTOS / "images/m15.jpg"))
    result = call_tool(get_tool("classify_image"), {}, context, door="graph")
    assert (result.ok, result.data["found"]) == (True, False)
    assert result.text.startswith("No ImageNet class fits the whole image well")


def test_a_box_is_classified_by_itself(context_of: ContextOf) -> None:
    """A cup of coffee in the corner of a sheet of noise-free white."""
    sheet = Image.new("RGB", (1600, 1200), "white")
    sheet.paste(Image.open(PHOTOS / "images/m07.png").convert("RGB"), (1000, 800))
    context = context_of(sheet)
    box = {"x1": 625, "y1": 667, "x2": 1000, "y2": 1000, "space": "norm1000"}
    result = call_tool(get_tool("classify_image"), box, context, door="graph")
    assert result.data["classes"][0]["name"] == "espresso"
    assert "original pixels [1000,800.4,1600,1200]" in result.text
    assert result.regions[0].box == (1000, 800.4, 1600, 1200)
