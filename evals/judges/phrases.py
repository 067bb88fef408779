"""Words around an answer that say nothing about it: "The answer is", "a photo of", "aircraft"."""

from __future__ import annotations

import re

from fieldmark.evals.judges.normalise import words

_THING = (
    "aircraft|airplane|aeroplane|plane|airliner|helicopter|bird|plant|flower|tree|animal|dog|cat|insect|"
    "butterfly|fish|car|vehicle|ship|train|product|building|landmark|painting|artwork|work|species|object|item"
)
_CJK_THING = "飞机|机型|鸟|植物|花|动物|狗|猫|昆虫|蝴蝶|鱼|汽车|车|船|产品|建筑|画|作品|物种|物体"
_MEASURE = "架|只|种|个|幅|座|辆|款|株|朵"
_OPENING = re.compile(
    "|".join(
        (
            r"(?:my |the )?(?:final )?answer(?: is\b|\s*:)\s*:?",
            r"(?:this|it|that) is\b",
            r"it's\b",
            rf"(?:the|this) (?:{_THING})(?: (?:in|shown in|on) (?:the|this) (?:photo|image|picture))? is\b",
            r"(?:the|this) (?:photo|image|picture) (?:shows|is of)\b",
            r"(?:photo|picture|image|photograph) of\b",
            r"(?:an?|the)(?=\s+[^\W\d])",
            r"(?:最终)?答案\s*(?:是|为|:)\s*:?",
            rf"(?:图中|图片中|照片中)(?:的)?(?:{_CJK_THING})?(?:是|为)",
            rf"(?:这|该|此)(?:{_MEASURE})?(?:{_CJK_THING})?(?:是|为)",
            rf"一(?:{_MEASURE})",
        )
    ),
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"“”„«»*`《》〈〉「」『』【】]")
_HEDGE = re.compile(
    r"\b(?:or|either|neither|nor|not|isn't|unlike|maybe|perhaps|possibly|probably|likely|unsure|uncertain|"
    r"unknown|might|may be|could|versus|vs|rather than|instead|except|similar to|resembles|looks like)\b"
    r"|或|还是|不是|不像|可能|也许|大概|不确定|并非|而非|[?]",
    re.IGNORECASE,
)


def unquote(folded: str) -> str:
    """A folded text without quotation marks and Markdown emphasis; `_` is a space."""
    return " ".join(_QUOTES.sub("", folded).replace("_", " ").split())


def unwrap(text: str) -> str:
    """The text without the openings of the closed list and without end punctuation."""
    while match := _OPENING.match(text):
        text = text[match.end() :].lstrip(" :,")
    return text.rstrip(" .!。;")


def drop_generic_noun(tail: str, question: str) -> str:
    """A tail without a leading noun that only repeats the question ("aircraft" in "Boeing 737 aircraft")."""
    match = re.match(rf"\s*(?:(?:{_THING})s?(?!\w)|(?:{_CJK_THING}))", tail, re.IGNORECASE)
    if match is None:
        return tail
    noun = match.group().strip().casefold()
    asked = noun in words(question) or (not noun.isascii() and noun in question)
    return tail[match.end() :] if asked else tail


def hedges(text: str) -> bool:
    """Whether a text doubts, denies or offers alternatives."""
    return _HEDGE.search(text) is not None
