"""What an OCR engine is: it reads level lines, and text anywhere on a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fieldmark.task import OcrEngine
from fieldmark.trace import Box

Grey = NDArray[np.uint8]  # (H, W)

_ALIASES = {
    "eng": "en",
    "english": "en",
    "zh_cn": "zh",
    "zh_hans": "zh",
    "chi_sim": "zh",
    "cn": "zh",
    "ch": "zh",
    "chinese": "zh",
    "chinese_simplified": "zh",
    "simplified_chinese": "zh",
    "zh_sg": "zh",
    "中文": "zh",
    "简体中文": "zh",
    "zh_hk": "zh_tw",
    "chinese_traditional": "zh_tw",
    "traditional_chinese": "zh_tw",
    "zh_hant": "zh_tw",
    "chi_tra": "zh_tw",
    "deu": "de",
    "fra": "fr",
    "spa": "es",
    "ita": "it",
    "por": "pt",
    "nld": "nl",
    "jpn": "ja",
    "jp": "ja",
    "japanese": "ja",
    "kor": "ko",
    "korean": "ko",
    "rus": "ru",
    "russian": "ru",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
}


@dataclass(frozen=True)
class Word:
    """`box` is left, top, right, bottom in pixels of image number `page`; `confidence` 0 to 1.

    Words with the same `line` stand on one line of their page. `turned` is by how many degrees clockwise
    the picture was turned to read it.
    """

    page: int
    line: tuple[int, ...]
    text: str
    confidence: float
    box: Box
    turned: int = 0


class Engine(Protocol):
    """One OCR engine. Reading raises ToolError: `unavailable`, `timeout`.

    Confidences of its words: `sure` is worth stopping for, `plausible` worth telling.
    """

    @property
    def name(self) -> str: ...

    @property
    def sure(self) -> float: ...

    @property
    def plausible(self) -> float: ...

    @property
    def any_angle(self) -> bool:
        """Whether `read_page` reads tilted lines, and lines upside down."""

    def language(self, wanted: str) -> str:
        """The engine's name of "en", "chi-sim", "en+zh"…; ToolError `invalid_args` lists what it has."""

    def read_lines(self, strips: Sequence[Grey], lang: str) -> list[Word]:
        """The words of images that each hold one level line; `page` numbers the images."""

    def read_page(self, page: Grey, lang: str) -> list[Word]:
        """Whatever stands on a page."""


@cache
def get_engine(name: OcrEngine) -> Engine:
    """The engine, its models loaded once in a process; ToolError `unavailable` where it is not installed."""
    if name == "rapidocr":
        from fieldmark.tools.reading.rapid import RapidOcr

        return RapidOcr()
    from fieldmark.tools.reading.tesseract import Tesseract

    return Tesseract()


def language_names(wanted: str) -> list[str]:
    """Our names of the languages in "en-US", "chi-sim", "en, zh_CN"…: two letters, `zh_tw`, or as written."""
    names = [re.sub(r"\W+", "_", name.strip().lower()) for name in re.split(r"[+,;/\s]+", wanted.strip())]
    return [_ALIASES.get(name, _without_region(name)) for name in names]


def _without_region(name: str) -> str:
    """`pt_br` -> `pt`; but `en_zh` may mean two languages, and stays to be refused."""
    language, _, region = name.partition("_")
    known = {*_ALIASES.values()}
    return language if language in known and len(region) == 2 and region not in known - {language} else name
