"""The real engines on drawn text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont, ImageOps

from fieldmark.errors import ToolError
from fieldmark.task import OcrEngine
from fieldmark.tools.base import ToolResult
from fieldmark.tools.calling import call_tool
from fieldmark.tools.reading.engine import get_engine
from fieldmark.tools.reading.registrations import marks
from fieldmark.tools.reading.tesseract import Tesseract
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, lettered

Ocr = Callable[..., ToolResult]
DATA = Path(__file__).parents[1] / "data"
both = pytest.mark.parametrize("engine", ["tesseract", "rapidocr"])


@pytest.fixture
def ocr(context_of: ContextOf) -> Ocr:
    def read(image: Image.Image, engine: OcrEngine = "tesseract", **arguments: Any) -> ToolResult:
        return call_tool(get_tool("ocr"), arguments, context_of(image, ocr_engine=engine), door="command")

    return read


def sign(text: str, height: int, size: tuple[int, int] = (640, 200)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    font = ImageFont.load_default(size=height)
    ImageDraw.Draw(image).text((size[0] // 2, size[1] // 2), text, fill="black", font=font, anchor="mm")
    return image


def lines(result: ToolResult) -> list[str]:
    return [line["text"] for line in result.data["lines"]]


@both
def test_text_comes_with_place_and_confidence(ocr: Ocr, engine: OcrEngine) -> None:
    result = ocr(sign("FLIGHT 208", 48), engine)
    assert lines(result) == ["FLIGHT 208"]
    assert result.data["engine"] == engine
    (line,) = result.data["lines"]
    x0, y0, x1, y1 = line["box"]
    assert 150 < x0 < 260 < 380 < x1 < 500
    assert 60 < y0 < 100 < y1 < 140
    assert 0.8 < line["confidence"] <= 1
    assert line["rotation"] == 0


@both
def test_places_are_in_pixels_of_the_original_also_in_a_box(ocr: Ocr, engine: OcrEngine) -> None:
    image = Image.new("RGB", (2000, 1000), "white")
    image.paste(sign("FLIGHT 208", 48), (1200, 700))
    result = ocr(image, engine, x1=0.6, y1=0.7, x2=0.92, y2=0.9, space="fraction")
    x0, y0, x1, y1 = result.data["lines"][0]["box"]
    assert lines(result) == ["FLIGHT 208"]
    assert 1200 < x0 < x1 < 1840
    assert 700 < y0 < y1 < 900


@both
def test_tiny_text_is_enlarged(ocr: Ocr, engine: OcrEngine) -> None:
    """Case 3-11: places are those of the small picture."""
    result = ocr(sign("TAIL 93 XQ", 11, (90, 20)), engine)
    assert lines(result) == ["TAIL 93 XQ"]
    x0, y0, x1, y1 = result.data["lines"][0]["box"]
    assert 0 <= x0 < 20 < 70 < x1 <= 90
    assert 0 <= y0 < 10 < y1 <= 20


@both
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_sideways_text_is_read_and_the_turn_is_said(ocr: Ocr, turned: int, engine: OcrEngine) -> None:
    """Case 3-09; Pillow turns the other way, so that the same number undoes it."""
    result = ocr(sign("DEPARTURES", 60).rotate(turned, expand=True), engine)
    assert lines(result) == ["DEPARTURES"]
    assert result.data["lines"][0]["rotation"] == turned
    assert f"turning the picture {turned} degrees clockwise" in result.text


@both
@pytest.mark.parametrize(("turned", "said"), [(0, 0), (180, 180)])
def test_sure_nonsense_does_not_hide_text_on_its_head(
    ocr: Ocr, turned: int, said: int, engine: OcrEngine
) -> None:
    """Case 3-09: this sign reads as `LHOMA … WOLZ8N`, at 0.9, upside down."""
    picture = Image.new("RGB", (900, 300), "white")
    font = ImageFont.load_default(40)
    ImageDraw.Draw(picture).text((40, 100), "FLIGHT N8710M DELTA", fill="black", font=font)
    result = ocr(picture.rotate(turned), engine)
    assert lines(result) == ["FLIGHT N8710M DELTA"]
    assert result.data["lines"][0]["rotation"] == said


@both
@pytest.mark.parametrize("mode", ["text", "registration"])
def test_nothing_to_read_is_not_an_error(ocr: Ocr, mode: str, engine: OcrEngine) -> None:
    """Case 3-12."""
    result = ocr(Image.new("RGB", (300, 100), "white"), engine, mode=mode)
    assert result.ok
    assert result.data == {"found": False, "engine": engine, "lines": [], "registrations": []}


@both
@pytest.mark.parametrize("size", [(1, 1), (1, 1000), (2000, 1), (5000, 2)])
def test_a_picture_too_thin_for_text_holds_none(ocr: Ocr, size: tuple[int, int], engine: OcrEngine) -> None:
    """Cases 1-26 and 1-27: nothing is made smaller than a pixel."""
    result = ocr(Image.new("RGB", size, "white"), engine)
    assert result.ok
    assert not result.data["found"]


@both
def test_two_characters_are_enough(ocr: Ocr, engine: OcrEngine) -> None:
    """Case 3-02: too little for Tesseract's own detection of orientation, which is not used."""
    assert lines(ocr(sign("7K", 60, (120, 80)), engine)) == ["7K"]


@both
def test_black_text_in_the_alpha_channel_only(ocr: Ocr, engine: OcrEngine) -> None:
    """Case 1-07."""
    alpha = ImageOps.invert(sign("SKY 42", 40, (220, 80)).convert("L"))
    image = Image.new("RGBA", alpha.size)
    image.putalpha(alpha)
    assert "".join(lines(ocr(image, engine))).replace(" ", "") == "SKY42"


@both
def test_bold_letters_on_a_dithered_picture(ocr: Ocr, engine: OcrEngine) -> None:
    """Case 1-26: one bit a pixel."""
    image = Image.linear_gradient("L").resize((160, 240)).point(lambda level: 190 + level // 6)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 60, 60), fill=90)
    pen.text((80, 120), "UP 7A", 0, ImageFont.load_default(size=32), anchor="mm", stroke_width=1)
    read = [line.replace(" ", "") for line in lines(ocr(image.convert("1"), engine))]
    assert "UP7A" in read


@both
@pytest.mark.parametrize(("angle", "cap"), [(0, 24), (-11, 30), (12, 44), (-28, 36)])
def test_a_tilted_registration_is_found(ocr: Ocr, angle: float, cap: int, engine: OcrEngine) -> None:
    result = ocr(lettered("D-AIMA", cap, angle), engine, mode="registration")
    (mark,) = result.data["registrations"]
    assert (mark["text"], mark["nation"]) == ("D-AIMA", "Germany")
    x0, y0, x1, y1 = mark["box"]
    assert x0 < 500 < x1
    assert y0 < 350 < y1


@both
def test_a_misread_registration_keeps_its_raw_reading(ocr: Ocr, engine: OcrEngine) -> None:
    """Case 3-07: US marks hold no letter O; what was changed is said."""
    (mark,) = ocr(sign("N1O5BA", 48), engine, mode="registration").data["registrations"]
    assert mark["text"] == "N105BA"
    assert mark["raw"] in ("N1O5BA", "N105BA")
    assert mark["changed"] == ([] if mark["raw"] == "N105BA" else [[2, "O", "0"]])


@pytest.mark.parametrize(
    ("reading", "mark"),
    [("N1O5BA", "N105BA"), ("G-8OAC", "G-BOAC"), ("D-A1BC", "D-AIBC"), ("n 105 ba", "N105BA")],
)
def test_the_grammar_of_the_nation_decides(reading: str, mark: str) -> None:
    """Case 3-07."""
    assert mark in [candidate.text for candidate in marks(reading)]


@both
def test_words_are_not_registrations(ocr: Ocr, engine: OcrEngine) -> None:
    assert ocr(sign("GREEN BOEING NATION", 40), engine).data["registrations"] == []


@pytest.mark.parametrize(
    ("engine", "name", "code"),
    [
        ("tesseract", "en", "eng"),
        ("tesseract", "zh", "chi_sim"),
        ("tesseract", "chi-sim", "chi_sim"),
        ("tesseract", "en+zh_CN", "eng+chi_sim"),
        ("tesseract", "en-US", "eng"),
        ("tesseract", "en, zh", "eng+chi_sim"),
        ("tesseract", "en/中文", "eng+chi_sim"),
        ("rapidocr", "eng", "en"),
        ("rapidocr", "chi-sim", "zh"),
    ],
)
def test_language_names(engine: OcrEngine, name: str, code: str) -> None:
    """Case 3-06."""
    assert get_engine(engine).language(name) == code


@pytest.mark.parametrize("name", ["eng+xxx", "../../etc/passwd", "", "osd", "en-zh", "en xx", "--psm 0"])
@pytest.mark.parametrize(
    ("engine", "have"), [("tesseract", "have chi_sim, eng"), ("rapidocr", "have en, zh")]
)
def test_an_unknown_language_is_named_with_the_installed_ones(
    ocr: Ocr, name: str, engine: OcrEngine, have: str
) -> None:
    """Case 3-06."""
    result = ocr(sign("A", 40), engine, lang=name)
    assert result.error_kind == "invalid_args"
    assert have in (result.error or "")


@both
def test_chinese(ocr: Ocr, engine: OcrEngine) -> None:
    """The sign was drawn once, with WenQuanYi Micro Hei: reading needs no font."""
    drawn = Image.open(DATA / "chinese_sign.png").convert("RGB")
    assert lines(ocr(drawn, engine, lang="zh")) == ["北京机场"]


def test_without_tesseract_the_model_is_told(tmp_path: Path) -> None:
    """Case 3-01."""
    path = tmp_path / "picture.png"
    lettered("D-AIMA", 30).save(path)
    code = "from fieldmark.cli import main; main()"
    command = [sys.executable, "-c", code, "tool", "ocr", "--image", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 0
    assert "ocr unavailable: install tesseract-ocr" in done.stdout


def test_too_many_open_files_is_not_called_a_missing_tesseract() -> None:
    """Case 3-01."""
    code = """
import contextlib, os, pytesseract
from fieldmark.errors import ToolError
from fieldmark.tools.reading.tesseract import Tesseract
with contextlib.suppress(OSError):
    while True:
        os.dup(0)
try:
    Tesseract().language("en")
except ToolError as error:
    print(error)
"""
    command = ["prlimit", "--nofile=64", sys.executable, "-c", code]
    said = subprocess.check_output(command, text=True)
    assert said == "ocr failed: Tesseract is there and could not be started\n"


def test_a_timeout_is_called_one() -> None:
    """Case 3-04."""
    with pytest.raises(ToolError, match=r"ocr timed out after 0\.01 s") as raised:
        Tesseract(timeout=0.01).read_page(np.full((800, 800), 255, np.uint8), "eng")
    assert raised.value.kind == "timeout"


def test_a_strip_that_kills_tesseract_costs_only_itself() -> None:
    """The strip is of a drawn photo; it ends Tesseract 5.3 by an arithmetic exception."""
    strip = np.asarray(Image.open(DATA / "kills_tesseract.png"), np.uint8)
    good = np.asarray(sign("FLIGHT 208", 32, (400, 64)).convert("L"), np.uint8)
    words = Tesseract().read_lines([good, strip, good], "eng")
    assert [(word.page, word.text) for word in words] == [
        (0, "FLIGHT"),
        (0, "208"),
        (2, "FLIGHT"),
        (2, "208"),
    ]


def test_tesseract_pays_nothing_for_rapidocr() -> None:
    code = (
        "import sys; from fieldmark.tools.reading.engine import get_engine; get_engine('tesseract');"
        "print(sorted({'rapidocr', 'onnxruntime'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_rapidocr_needs_no_network(tmp_path: Path) -> None:
    """In a network namespace of its own its models still load: they are those of its wheel."""
    path = tmp_path / "picture.png"
    sign("FLIGHT 208", 48).save(path)
    tool = [sys.executable, "-m", "fieldmark.cli", "tool", "ocr", "--image", str(path), "--ocr", "rapidocr"]
    done = subprocess.run(["unshare", "-rn", *tool], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["data"]["lines"][0]["text"] == "FLIGHT 208"
    assert done.stderr == ""
