"""The real Tesseract on drawn text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.reading import tesseract
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, lettered

Ocr = Callable[..., ToolResult]


@pytest.fixture
def ocr(context_of: ContextOf) -> Ocr:
    def read(image: Image.Image, **arguments: Any) -> ToolResult:
        return call_tool(get_tool("ocr"), arguments, context_of(image), door="command")

    return read


def sign(text: str, height: int, size: tuple[int, int] = (640, 200)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    font = ImageFont.load_default(size=height)
    ImageDraw.Draw(image).text((size[0] // 2, size[1] // 2), text, fill="black", font=font, anchor="mm")
    return image


def lines(result: ToolResult) -> list[str]:
    return [line["text"] for line in result.data["lines"]]


def test_text_comes_with_place_and_confidence(ocr: Ocr) -> None:
    result = ocr(sign("FLIGHT 208", 48))
    assert lines(result) == ["FLIGHT 208"]
    (line,) = result.data["lines"]
    x0, y0, x1, y1 = line["box"]
    assert 150 < x0 < 260 < 380 < x1 < 500
    assert 60 < y0 < 100 < y1 < 140
    assert 0.8 < line["confidence"] <= 1


def test_places_are_in_pixels_of_the_original_also_in_a_box(ocr: Ocr) -> None:
    image = Image.new("RGB", (2000, 1000), "white")
    image.paste(sign("FLIGHT 208", 48), (1200, 700))
    result = ocr(image, x1=0.6, y1=0.7, x2=0.92, y2=0.9, space="fraction")
    x0, y0, x1, y1 = result.data["lines"][0]["box"]
    assert lines(result) == ["FLIGHT 208"]
    assert 1200 < x0 < x1 < 1840
    assert 700 < y0 < y1 < 900


def test_tiny_text_is_enlarged(ocr: Ocr) -> None:
    assert lines(ocr(sign("TAIL 93 XQ", 11, (90, 20)))) == ["TAIL 93 XQ"]


@pytest.mark.parametrize(("turned", "undone"), [(90, 90), (270, 270), (180, 180)])
def test_sideways_text_is_read_and_the_turn_is_said(ocr: Ocr, turned: int, undone: int) -> None:
    result = ocr(sign("DEPARTURES", 60).rotate(turned, expand=True))
    assert lines(result) == ["DEPARTURES"]
    assert f"turning the picture {undone} degrees clockwise" in result.text


def test_nothing_to_read_is_not_an_error(ocr: Ocr) -> None:
    result = ocr(Image.new("RGB", (300, 100), "white"))
    assert result.ok
    assert result.data == {"found": False, "lines": [], "registrations": []}


def test_two_characters_are_enough(ocr: Ocr) -> None:
    assert lines(ocr(sign("7K", 60, (120, 80)))) == ["7K"]


@pytest.mark.parametrize(("angle", "cap"), [(0, 24), (-11, 30), (8, 24), (12, 44)])
def test_a_tilted_registration_is_found(ocr: Ocr, angle: float, cap: int) -> None:
    result = ocr(lettered("D-AIMA", cap, angle), mode="registration")
    (mark,) = result.data["registrations"]
    assert (mark["text"], mark["nation"]) == ("D-AIMA", "Germany")
    x0, y0, x1, y1 = mark["box"]
    assert x0 < 500 < x1
    assert y0 < 350 < y1


def test_a_misread_registration_keeps_its_raw_reading(ocr: Ocr) -> None:
    result = ocr(sign("N1O5BA", 48), mode="registration")
    assert result.data["registrations"][0]["text"] == "N105BA"
    assert result.data["registrations"][0]["raw"] in ("N1O5BA", "N105BA")


def test_words_are_not_registrations(ocr: Ocr) -> None:
    assert ocr(sign("GREEN BOEING NATION", 40)).data["registrations"] == []


@pytest.mark.parametrize(
    ("name", "code"), [("en", "eng"), ("zh", "chi_sim"), ("chi-sim", "chi_sim"), ("en+zh", "eng+chi_sim")]
)
def test_language_names(name: str, code: str) -> None:
    assert tesseract.languages(name) == code


@pytest.mark.parametrize("name", ["eng+xxx", "../../etc/passwd", "", "osd"])
def test_an_unknown_language_is_named_with_the_installed_ones(ocr: Ocr, name: str) -> None:
    result = ocr(sign("A", 40), lang=name)
    assert result.error_kind == "invalid_args"
    assert "have chi_sim, eng" in (result.error or "")


def test_chinese(ocr: Ocr) -> None:
    """The sign was drawn once, with WenQuanYi Micro Hei: reading needs no font."""
    drawn = Image.open(Path(__file__).parents[1] / "data" / "chinese_sign.png").convert("RGB")
    assert lines(ocr(drawn, lang="zh")) == ["北京机场"]


def test_without_tesseract_the_model_is_told(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    lettered("D-AIMA", 30).save(path)
    code = "from fieldmark.cli import main; main()"
    command = [sys.executable, "-c", code, "tool", "ocr", "--image", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 0
    assert "ocr unavailable: install tesseract-ocr" in done.stdout
