"""Tesseract: many images, one process, words with their places."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from fieldmark.errors import ToolError
from fieldmark.tools.reading.engine import Grey, Word, language_names
from fieldmark.tools.reading.noise import smoothed

LEVEL_LINE = 7
SPARSE = 11
"""Page segmentation modes: one line; text anywhere."""

_NAMES = {
    "en": "eng",
    "zh": "chi_sim",
    "zh_tw": "chi_tra",
    "de": "deu",
    "fr": "fra",
    "es": "spa",
    "it": "ita",
    "pt": "por",
    "nl": "nld",
    "ja": "jpn",
    "ko": "kor",
    "ru": "rus",
}
_SIGMA = 1.2
_GRAIN = 4.0  # grey levels
_CRASHES = (-signal.SIGABRT, -signal.SIGFPE, -signal.SIGSEGV)


@dataclass(frozen=True)
class Tesseract:
    """`timeout`: seconds of one Tesseract process."""

    timeout: float = 45.0
    name = "tesseract"
    sure = 0.8
    plausible = 0.5
    any_angle = False

    def language(self, wanted: str) -> str:
        codes = [_NAMES.get(name, name) for name in language_names(wanted)]
        have = [code for code in _installed() if code != "osd"]
        if missing := [code for code in codes if code not in have]:
            raise ToolError(
                f"lang: {'+'.join(missing)} is not installed; have {', '.join(have)}", "invalid_args"
            )
        return "+".join(dict.fromkeys(codes))

    def read_lines(self, strips: Sequence[Grey], lang: str) -> list[Word]:
        return self._read(strips, lang, LEVEL_LINE)

    def read_page(self, page: Grey, lang: str) -> list[Word]:
        return self._read([_denoised(page)], lang, SPARSE)

    def _read(self, images: Sequence[Grey], lang: str, psm: int) -> list[Word]:
        """The words of all images; one that kills Tesseract, as texture now and then does, has none."""
        try:
            return self._read_at_once(images, lang, psm) if images else []
        except _Crash:
            if len(images) == 1:
                return []
            halves = ((0, images[: len(images) // 2]), (len(images) // 2, images[len(images) // 2 :]))
            return [
                replace(word, page=word.page + first)
                for first, half in halves
                for word in self._read(half, lang, psm)
            ]

    def _read_at_once(self, images: Sequence[Grey], lang: str, psm: int) -> list[Word]:
        with tempfile.TemporaryDirectory(prefix="fieldmark-ocr-") as folder:
            pages = _written(images, Path(folder))
            table = _guarded(
                lambda engine: engine.image_to_data(
                    str(pages),
                    lang=lang,
                    config=f"--psm {psm} -c user_defined_dpi=150",
                    timeout=self.timeout,
                    output_type=engine.Output.DICT,
                ),
                self.timeout,
            )
        return list(_words(table))


class _Crash(Exception):
    """A signal ended Tesseract."""


@cache
def _installed() -> tuple[str, ...]:
    """The installed languages; ToolError `unavailable` without Tesseract."""
    return tuple(_guarded(lambda engine: engine.get_languages()))


def _denoised(grey: Grey) -> Grey:
    """Smoothed where grain is strong: Tesseract would spend seconds on it, reading each speck."""
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)  # Immerkaer's noise estimate, 1996
    grain = float(np.abs(cv2.filter2D(grey, cv2.CV_32F, kernel)).mean()) * (np.pi / 2) ** 0.5 / 6
    return smoothed(grey, _SIGMA) if grain > _GRAIN else grey


def _written(images: Sequence[Grey], folder: Path) -> Path:
    """A list file that Tesseract reads as the pages of one document: its models are loaded once."""
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


def _guarded(use: Any, timeout: float = 0.0) -> Any:
    """Call pytesseract; its many failures become the two that a model can understand."""
    import pytesseract

    os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # its threads cost more than they give on small images
    try:
        return use(pytesseract)
    except pytesseract.TesseractNotFoundError:
        if shutil.which("tesseract"):  # pytesseract says so of whatever keeps a process from starting
            raise ToolError("ocr failed: Tesseract is there and could not be started", "runtime") from None
        raise ToolError("ocr unavailable: install tesseract-ocr", "unavailable") from None
    except RuntimeError as error:  # pytesseract's TesseractError is one, and so is its time-out
        if "timeout" in str(error).lower():
            raise ToolError(f"ocr timed out after {timeout:g} s: choose a smaller box", "timeout") from None
        if getattr(error, "status", 0) in _CRASHES:
            raise _Crash from None
        raise ToolError(f"ocr failed: {' '.join(str(error).split())[:200]}", "runtime") from None
