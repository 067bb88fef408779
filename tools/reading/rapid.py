"""RapidOCR (extra `rapidocr`): PP-OCRv6 small, detection and recognition, on one thread of ONNX Runtime.

Its models come in its wheel; they are named by file, so that it never looks for others on the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from fieldmark.errors import ToolError
from fieldmark.tools.reading.engine import Grey, Word, language_names
from fieldmark.tools.reading.text_lines import Floats, TextLine

LANGUAGES = ("en", "zh", "zh_tw", "ja", "de", "fr", "es", "it", "pt", "nl")
"""What its one model reads; further languages in Latin letters as well."""

_STRIP = 48  # px, the height that recognition works at
_SHORT, _LONG = 736, 1600
"""Sides in px of a page for detection: enlarged to the one, reduced to the other for time and memory."""

_TALL = 1.5  # height over width of a box whose text stands on end
_MAX_LINES = 80
_INSET = 0.2  # of a strip, above and below its characters


class RapidOcr:
    """The models, loaded; ToolError `unavailable` where the extra is not installed."""

    name = "rapidocr"
    sure = 0.9
    plausible = 0.6
    any_angle = True

    def __init__(self) -> None:
        self._models = _load()

    def language(self, wanted: str) -> str:
        names = language_names(wanted)
        if missing := [name for name in names if name not in LANGUAGES]:
            raise ToolError(
                f"lang: {'+'.join(missing)} is not installed; have {', '.join(LANGUAGES)}", "invalid_args"
            )
        return "+".join(dict.fromkeys(names))

    def read_lines(self, strips: Sequence[Grey], lang: str) -> list[Word]:
        if not strips:
            return []
        images = [cv2.cvtColor(strip, cv2.COLOR_GRAY2BGR) for strip in strips]
        read = self._models.recognize_txt(images)
        rows = zip(strips, read.txts, read.word_results, strict=True)
        return [word for at, row in enumerate(rows) for word in _words(at, *row)]

    def read_page(self, page: Grey, lang: str) -> list[Word]:
        """Words at any angle; what is not sure is read upside down as well."""
        cuts = [_cut(page, box) for box in self._find(page)[:_MAX_LINES]]
        read = self._read_cuts([cut for cut, _ in cuts], [turned for _, turned in cuts])
        unsure = [at for at, words in enumerate(read) if _confidence(words) < self.sure]
        flipped = self._read_cuts(
            [cuts[at][0].upside_down() for at in unsure], [cuts[at][1] + 180 for at in unsure]
        )
        for at, words in zip(unsure, flipped, strict=True):
            if _confidence(words) >= self.sure:
                read[at] = words
        return [replace(word, page=0, line=(at,)) for at, words in enumerate(read) for word in words]

    def _find(self, page: Grey) -> list[Floats]:
        """Four corners (4, 2) for each line, clockwise from its top left."""
        from rapidocr.main import RapidOCRError

        scale = min(max(1.0, _SHORT / min(page.shape)), _LONG / max(page.shape))
        flags = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        enlarged = cv2.resize(page, None, fx=scale, fy=scale, interpolation=flags)
        try:
            _, found = self._models.detect_and_crop(cv2.cvtColor(enlarged, cv2.COLOR_GRAY2BGR), {})
        except RapidOCRError:  # nothing there
            return []
        return [np.asarray(box, float) / scale for box in found.boxes]

    def _read_cuts(self, cuts: Sequence[TextLine], turned: Sequence[int]) -> list[list[Word]]:
        """The words of each, with their places on the page."""
        read: list[list[Word]] = [[] for _ in cuts]
        for word in self.read_lines([cut.strip for cut in cuts], ""):
            box = cuts[word.page].on_image(word.box)
            read[word.page].append(replace(word, box=box, turned=turned[word.page]))
        return read


def _load() -> Any:
    try:
        import rapidocr
    except ImportError:
        message = (
            "ocr unavailable: RapidOCR is not installed (on the host: pip install 'fieldmark[rapidocr]')"
        )
        raise ToolError(message, "unavailable") from None
    folder = Path(rapidocr.__file__).parent / "models"
    models = {f"{part}.model_path": next(folder.glob(f"*_{part.lower()}_*.onnx")) for part in ("Det", "Rec")}
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    settings = {
        "Global.log_level": "error",
        "Global.return_word_box": True,
        "Global.use_vertical_padding": False,
        "Det.limit_type": "max",
        "Det.limit_side_len": _LONG,
    }
    return rapidocr.RapidOCR(params={**models, **threads, **settings})


def _cut(page: Grey, corners: Floats) -> tuple[TextLine, int]:
    """A line cut out level, and the turn in degrees, 0 or 90, that made it so."""
    turned = 0
    if np.linalg.norm(corners[3] - corners[0]) >= _TALL * np.linalg.norm(corners[1] - corners[0]):
        corners, turned = np.roll(corners, 1, axis=0), 90
    across, down = corners[1] - corners[0], corners[3] - corners[0]
    height = float(np.linalg.norm(down))
    width = max(1, round(float(np.linalg.norm(across)) * _STRIP / max(height, 1.0)))
    to_image = np.column_stack([across / width, down / _STRIP, corners[0]])
    flags = (cv2.INTER_AREA if height > 2 * _STRIP else cv2.INTER_CUBIC) | cv2.WARP_INVERSE_MAP
    strip = cv2.warpAffine(page, to_image, (width, _STRIP), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return TextLine(np.asarray(strip, np.uint8), to_image, 1.0), turned


def _words(number: int, strip: Grey, text: str, found: Any) -> Iterator[Word]:
    """The words of a line: each character has a confidence, and each but a space a column of the network."""
    columns = chain.from_iterable(found.word_cols)
    height, width = strip.shape
    step = width / max(found.line_txt_len, 1.0)
    for run in re.finditer(r"\S+", text):
        places = [next(columns) for _ in run.group()]
        confidence = float(np.mean(found.confs[run.start() : run.end()]))
        box = (
            max(0.0, (places[0] - 1) * step),
            0.0,
            min(float(width), (places[-1] + 2) * step),
            float(height),
        )
        yield Word(number, (0,), run.group(), confidence, box)


def _confidence(words: Sequence[Word]) -> float:
    """The mean over the characters of a line; 0 of none."""
    letters = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.confidence for word in words) / max(letters, 1)
