"""Bilingual names: the English one of two, the top categories by their English names, languages by code."""

from __future__ import annotations

import re
from typing import Any

from fieldmark.evals.judges.normalise import fold, is_cjk

TOPS = ("Product", "Nature", "Transport", "Culture")
_CHINESE_TOPS = {
    **{"产品": "Product", "商品": "Product", "自然": "Nature", "交通": "Transport"},
    **{"交通工具": "Transport", "交通运输": "Transport", "文化": "Culture"},
}
"""The Chinese names are not published either: a name that is not here stays as it is, with a warning."""
_SPLITS = {"reallife": "real-life", "public": "public", "publicsource": "public", "publicdataset": "public"}
_LANGUAGES = {
    **{"zh": "zh", "cn": "zh", "chinese": "zh", "mandarin": "zh", "中文": "zh", "汉语": "zh"},
    **{"en": "en", "english": "en", "英文": "en", "英语": "en"},
}
_EDGES = " /|,;:·-–—()[]{}<>【】《》（）、"


def english(value: Any) -> Any:
    """`产品 / Product`, `Product（产品）` and `{"zh": …, "en": …}` → `Product`; Chinese alone stays."""
    if isinstance(value, dict):
        named = {str(key).lower(): item for key, item in value.items()}
        value = next((named[key] for key in ("en", "english", "zh", "cn", "chinese") if key in named), value)
    if isinstance(value, list) and len(value) in (1, 2) and all(isinstance(item, str) for item in value):
        value = " / ".join(value)
    if not isinstance(value, str):
        return value
    text = fold(value)
    rest = " ".join("".join(" " if is_cjk(char) else char for char in text).split()).strip(_EDGES)
    has_both = rest and any(is_cjk(char) for char in text) and re.search(r"[A-Za-z]", rest)
    return rest if has_both else text


def top(value: Any) -> Any:
    """A top category by its English name where it is one of the four."""
    name = english(value)
    if not isinstance(name, str):
        return name
    plain = name.casefold().removesuffix("s")
    known = {each.casefold(): each for each in TOPS} | _CHINESE_TOPS
    return known.get(name.casefold()) or known.get(plain) or name


def split(value: Any) -> Any:
    """`Real_Life` → `real-life`; other names stay."""
    name = english(value)
    return _SPLITS.get(re.sub(r"[^a-z]", "", name.lower()), name) if isinstance(name, str) else name


def language(value: Any, question: str) -> str:
    """`zh` or `en`; where nothing is said, by the writing of the question."""
    if isinstance(value, str) and value.strip():
        name = fold(value).casefold()
        return _LANGUAGES.get(name) or _LANGUAGES.get(re.split(r"[-_]", name)[0], name)
    return "zh" if any(is_cjk(char) for char in question) else "en"
