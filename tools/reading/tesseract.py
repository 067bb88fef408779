"""Tesseract behind one function: many images, one process, words with their places."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.errors import ToolError
from fieldmark.trace import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIMEOUT = 25.0
"""Seconds of one Tesseract process."""

LEVEL_LINE = 7
BLOCK = 6
SPARSE = 11
"""Page segmentation modes: one line, one block, text anywhere."""

_ALIASES = {
    "en": "eng",
    "english": "eng",
    "zh": "chi_sim",
    "zh_cn": "chi_sim",
    "zh_hans": "chi_sim",
    "cn": "chi_sim",
    "chinese": "chi_sim",
    "zh_tw": "chi_tra",
    "zh_hant": "chi_tra",
    "de": "deu",
    "fr": "fra",
    "es": "spa",
    "ja": "jpn",
    "ko": "kor",
    "ru": "rus",
}


@dataclass(frozen=True)
class Word:
    """`box` is left, top, right, bottom in pixels of image number `page`; `confidence` 0 to 1.

    Words with the same `line` stand on one line of their page.
    """

    page: int
    line: tuple[int, int, int]
    text: str
    confidence: float
    box: Box


def languages(wanted: str) -> str:
    """Tesseract's name of "en", "zh", "chi-sim", "eng+zh"…; ToolError names what is not installed."""
    names = [re.sub(r"\W+", "_", name.strip().lower()) for name in wanted.split("+")]
    codes = [_ALIASES.get(name, name) for name in names]
    missing = [code for code in codes if code not in installed() or code == "osd"]
    if missing or not codes:
        have = ", ".join(name for name in installed() if name != "osd")
        raise ToolError(f"lang: {'+'.join(missing)} is not installed; have {have}", "invalid_args")
    return "+".join(dict.fromkeys(codes))


@cache
def installed() -> tuple[str, ...]:
    """The installed languages; ToolError `unavailable` without Tesseract."""
    return tuple(_guarded(lambda engine: engine.get_languages()))


def read_words(
    images: Sequence[NDArray[np.uint8]], *, lang: str = "eng", psm: int, whitelist: str = ""
) -> list[Word]:
    """The words of grey images, in one process. ToolError: `timeout`, `unavailable`."""
    if not images:
        return []
    config = f"--psm {psm} -c user_defined_dpi=150"
    if whitelist:
        config += f" -c tessedit_char_whitelist={whitelist}"
    with tempfile.TemporaryDirectory(prefix="fieldmark-ocr-") as folder:
        pages = _written(images, Path(folder))
        table = _guarded(
            lambda engine: engine.image_to_data(
                str(pages), lang=lang, config=config, timeout=TIMEOUT, output_type=engine.Output.DICT
            )
        )
    return list(_words(table))


def _written(images: Sequence[NDArray[np.uint8]], folder: Path) -> Path:
    """A list file that Tesseract reads as the pages of one document: its models are loaded once."""
    import cv2

    names = []
    for number, image in enumerate(images):
        name = folder / f"{number:03}.png"
        name.write_bytes(cv2.imencode(".png", image, (cv2.IMWRITE_PNG_COMPRESSION, 1))[1].tobytes())
        names.append(str(name))
    pages = folder / "pages.txt"
    pages.write_text("\n".join(names) + "\n")
    return pages


def _words(table: dict[str, list[Any]]) -> list[Word]:
    rows = zip(*(table[name] for name in ("page_num", "block_num", "par_num", "line_num")), strict=True)
    places = zip(*(table[name] for name in ("left", "top", "width", "height")), strict=True)
    words = []
    for text, confidence, line, place in zip(table["text"], table["conf"], rows, places, strict=True):
        clean = "".join(char for char in str(text) if char.isprintable()).strip()
        if clean and float(confidence) >= 0:
            left, top, width, height = (float(value) for value in place)
            box = (left, top, left + width, top + height)
            words.append(Word(int(line[0]) - 1, line[1:], clean, float(confidence) / 100, box))
    return words


def _guarded(use: Any) -> Any:
    """Call pytesseract; its many failures become the two that a model can understand."""
    import pytesseract

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # its threads cost more than they give on small images
    try:
        return use(pytesseract)
    except pytesseract.TesseractNotFoundError:
        raise ToolError("ocr unavailable: install tesseract-ocr", "unavailable") from None
    except RuntimeError as error:  # pytesseract's TesseractError is one, and so is its time-out
        if "timeout" in str(error).lower():
            raise ToolError(f"ocr timed out after {TIMEOUT:g} s: choose a smaller box", "timeout") from None
        raise ToolError(f"ocr failed: {' '.join(str(error).split())[:200]}", "runtime") from None
