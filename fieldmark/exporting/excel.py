"""A CSV that Excel shows as it is: nothing runs, ids stay text, Chinese is readable; JSONL is the truth."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_CONVERTED = re.compile(
    rf"[\d.,:/eE+%\s-]*\d[\d.,:/eE+%\s-]*|\d+[\s-]*{_MONTH}[\s\d-]*|{_MONTH}[\s-]*\d[\s\d-]*|true|false",
    re.IGNORECASE,
)
"""What Excel would turn into a number, a date or a truth value."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def text_cell(text: str) -> str:
    """`text`, after an apostrophe where Excel would run or convert it."""
    text = _CONTROL.sub("\ufffd", text)
    return f"'{text}" if _FORMULA.match(text) or _CONVERTED.fullmatch(text.strip()) else text


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """UTF-8 with a byte order mark. Texts become `text_cell`s, numbers stay numbers, None is empty."""
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([text_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
