"""What the results of tools amount to, for `builtin/scout`: marks, records, hits, text, a conclusion."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fieldmark.sandbox.gateway.scout.kinds import asked_groups
from fieldmark.sandbox.gateway.scout.request import Seen

VERIFIED = 0.5
"""A picture-search score from which the same thing was found again, not just a look-alike."""

_LEGIBLE = 0.5  # confidence of a text line worth repeating
_LIKELY = 0.5  # a classifier's score below which its best class is mostly wrong
_TRUST = 0.6  # how often a likelier one was right on real photos (7 of 12): the rest were look-alikes
_AGREED, _DISPUTED, _GUESSED = 0.9, 0.6, 0.5  # confidence in an answer from the registry

_LITERAL = re.compile(
    r"\b(?:text|texts|say|says|written|read|reads|inscription|sign|lettering|words?)\b|文字|写着|写的|招牌|标牌|字样",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"\b(?:name|brand|title|logo|label|called)\b|名字|名称|品牌|店名|商标|叫什么", re.IGNORECASE
)
_MARK = re.compile(r"\b(?:registration|tail number)\b|注册号|机号", re.IGNORECASE)
_OPERATOR = re.compile(r"\b(?:airline|operator|operates|operated)\b|航空公司|运营", re.IGNORECASE)
_SITES = re.compile(
    r"wiki|flickr|pinterest|amazon|ebay|etsy|alamy|shutterstock|getty|instagram|facebook|youtube|reddit"
    r"|inaturalist|airliners|jetphotos|planespotters|百度|知乎|\.(?:com|org|net|cn|de)$",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"\s+[-–—|·:]\s+|\s*[|｜]\s*")
_FILE_ENDING = re.compile(r"\.(?:jpe?g|png|webp|gif|tiff?)$", re.IGNORECASE)


@dataclass(frozen=True)
class Conclusion:
    """An answer with the fields of the `answer` tool; `confidence` is a fraction."""

    text: str
    confidence: float
    rationale: str
    evidence: list[str] = field(default_factory=list)


def conclude(seen: Seen) -> Conclusion:
    """The best that the results support, or "unknown"."""
    written = _written(seen) if asks_text(seen) else None
    first = written if reads_text(seen) else None
    return (
        from_registry(seen)
        or _from_mark(seen)
        or first
        or _from_search(seen)
        or written
        or _from_class(seen)
        or _unknown(seen)
    )


def asks_text(seen: Seen) -> bool:
    """The question asks for a text or a name."""
    return bool(_LITERAL.search(seen.question) or _NAMING.search(seen.question))


def reads_text(seen: Seen) -> bool:
    """The question asks for a text and a legible one has been read."""
    return bool(_LITERAL.search(seen.question)) and _written(seen) is not None


# --- marks and records ----------------------------------------------------------------------------


def marks(seen: Seen) -> list[str]:
    """Registrations that were read, the surest first, each once."""
    found = [row for step in seen.done("ocr") for row in rows(step.data, "registrations") if row.get("text")]
    ordered = sorted(found, key=lambda row: -number(row.get("confidence")))
    return list(dict.fromkeys(str(row["text"]) for row in ordered))


def from_registry(seen: Seen) -> Conclusion | None:
    """The aircraft whose mark was read; of records that disagree the newest, with less confidence."""
    found = [row for step in seen.done("aircraft_registry") for row in rows(step.data, "records")]
    found = [row for row in found if _aircraft(row)]
    guessed = not found
    if guessed:
        found = _likely_misreadings(seen)
    if not found:
        return None
    newest = max(found, key=lambda row: str(row.get("date") or ""))
    names = {_aircraft(row) for row in found}
    mark, source = newest.get("registration"), newest.get("source")
    confidence = _GUESSED if guessed else _AGREED if len(names) == 1 else _DISPUTED
    how = "read, one character apart" if guessed else "read in the picture"
    rationale = f"registration {mark} {how}; {source or 'the registry'} lists it as {_aircraft(newest)}"
    return Conclusion(_asked_of(newest, seen.question), confidence, rationale, [f"registry {source}: {mark}"])


def _from_mark(seen: Seen) -> Conclusion | None:
    """The mark itself, where that is what the question asks for."""
    read = marks(seen)
    if not read or not _MARK.search(seen.question):
        return None
    return Conclusion(read[0], _DISPUTED, "registration read in the picture by OCR")


def _likely_misreadings(seen: Seen) -> list[dict[str, Any]]:
    """The record of a mark that differs by an easily misread character, when exactly one is registered."""
    near = [row for step in seen.done("aircraft_registry") for row in rows(step.data, "candidates")]
    records = [row["record"] for row in near if isinstance(row.get("record"), dict)]
    return records if len(records) == 1 and _aircraft(records[0]) else []


def _aircraft(record: dict[str, Any]) -> str:
    maker, model = (str(record.get(key) or "").strip() for key in ("manufacturer", "model"))
    if maker and model.casefold().startswith(maker.casefold()):
        return model
    return f"{maker} {model}".strip()


def _asked_of(record: dict[str, Any], question: str) -> str:
    if _OPERATOR.search(question):
        return str(record.get("operator") or _aircraft(record))
    if _MARK.search(question):
        return str(record.get("registration") or _aircraft(record))
    return _aircraft(record)


# --- picture search -------------------------------------------------------------------------------


def _from_search(seen: Seen) -> Conclusion | None:
    """The title of the best hit that is verified and is not the task's own picture found again."""
    hits = [row for step in seen.done("reverse_image_search") for row in rows(step.data, "hits")]
    good = [row for row in hits if number(row.get("score")) >= VERIFIED and not row.get("same_picture")]
    best = max(good, key=lambda row: number(row.get("score")), default=None)
    title = clean_title(str(best.get("title") or ""), str(best.get("source") or "")) if best else ""
    if best is None or not title:
        return None
    score = min(number(best.get("score")), 1.0)
    page = str(best.get("page") or best.get("title"))
    return Conclusion(title, round(score, 3), f"picture search found the same thing as {page!r}", [page])


def clean_title(title: str, source: str) -> str:
    """What a page's title names, without the site and remarks: `Saab 340 - Wikipedia` is `Saab 340`.

    The first part that is not the site's name, less a remark in brackets at its end.
    """
    parts = [part for part in _SEPARATORS.split(title.strip()) if part]
    named = [part for part in parts if not _SITES.search(part) and not _same_word(part, source)]
    title = next(iter(named or parts), "")
    title = re.sub(r"^(?:File|Category|Image|文件):", "", title.strip())
    title = _FILE_ENDING.sub("", title).replace("_", " ").strip()
    return re.sub(r"(?<=\S)\s*[(（][^()（）]*[)）]$", "", title)


def _same_word(part: str, source: str) -> bool:
    left, right = (re.sub(r"\W|_", "", text.casefold()) for text in (part, source))
    return len(left) > 2 and left in right


# --- text -----------------------------------------------------------------------------------------


def lines(seen: Seen) -> list[dict[str, Any]]:
    """Text lines that the latest reading found."""
    found = [rows(step.data, "lines") for step in seen.done("ocr")]
    return next((batch for batch in reversed(found) if batch), [])


def _written(seen: Seen) -> Conclusion | None:
    legible = [row for row in lines(seen) if number(row.get("confidence")) >= _LEGIBLE]
    texts = [text for row in legible if len(text := str(row.get("text") or "").strip()) > 1]
    if not texts:
        return None
    confidence = sum(number(row.get("confidence")) for row in legible) / len(legible)
    return Conclusion(" ".join(texts), round(min(confidence, 1.0), 3), "text read in the picture by OCR")


# --- classes --------------------------------------------------------------------------------------


def _from_class(seen: Seen) -> Conclusion | None:
    """The classifier's best class, where its score is high and it is of the kind that is asked for."""
    found = [row for step in seen.done("classify_image") for row in rows(step.data, "classes")]
    best = max(found, key=lambda row: number(row.get("score")), default=None)
    if best is None or number(best.get("score")) < _LIKELY:
        return None
    if best.get("group") not in asked_groups(seen.question):
        return None
    name = re.sub(r"\s*\([^()]*\)$", "", str(best.get("name") or ""))
    score = number(best.get("score"))
    why = f"a classifier of 1,000 classes names it, with a score of {score:.2f}; nothing else was found"
    return Conclusion(name, round(min(score, 1.0) * _TRUST, 3), why) if name else None


def _unknown(seen: Seen) -> Conclusion:
    tried = ", ".join(dict.fromkeys(step.tool for step in seen.steps))
    why = f"{tried} gave no evidence to answer from" if tried else "it was given no tool"
    return Conclusion("unknown", 0.0, f"scout has no vision model; {why}")


# --- tolerance ------------------------------------------------------------------------------------


def rows(data: Any, key: str) -> list[dict[str, Any]]:
    """The objects of a list inside a result's data; whatever else stands there counts as none."""
    value = data.get(key) if isinstance(data, dict) else None
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def number(value: Any) -> float:
    """A finite number, 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if abs(value) < 1e9 else 0.0
