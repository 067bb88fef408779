"""What may follow gold in an answer and only add detail to it.

`exact` knows nothing of the world, so it takes only pieces whose *type* shows that they are no other
candidate: dates, registrations, organisations, places, names of gold itself, and phrases with "by", "in",
"at", "from", "of". A plain name ("…, Vincent van Gogh, 1889") needs a date or place after it and a question
for a work or a building: after a flower, "…, Primrose, 2019" is another flower. A piece of the same type as
gold, or one that shares a word with it, is taken for another candidate, and so is all behind a slash.
That an added author or place is the true one is not checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fieldmark.evals.judges.normalise import is_cjk, words
from fieldmark.evals.judges.phrases import drop_generic_noun, hedges

Type = Literal["date", "registration", "organisation", "place", "name"]
Piece = Type | Literal["same", "finer", "phrase"]
Words = tuple[str, ...]

_DATE = re.compile(
    r"(?:c\.|ca\.|circa)?\s*(?:(?:\d{1,2} )?[A-Z][a-z]{2,8}\.? (?:\d{1,2} )?)?(?:1\d{3}|20\d{2})"
    r"(?:-(?:\d{2}|\d{4}))?(?:年(?:\d{1,2}月(?:\d{1,2}日)?)?)?"
)
_LABEL = re.compile(
    r"(?:registration|registered as|reg|tail number|tail no|serial(?: number)?|msn|机号|注册号)[.:\s]*",
    re.IGNORECASE,
)
_REGISTRATION = re.compile(
    r"N[1-9]\d{1,4}[A-HJ-NP-Z]{0,2}|JA\d{3,4}[A-Z]{0,2}|HL\d{4}|B-\d{3,5}[A-Z]{0,2}|[A-Z]{2}-\d{4,5}"
    r"|[A-Z0-9]{1,2}-[A-Z]{3,4}"
)
_ORGANISATION = re.compile(
    r"(?:the )?(?:[A-Z][\w&.'-]* ){1,5}"
    r"(?:Airlines?|Airways|Air Lines|Air Force|Aviation|Cargo|Navy|Army|Museum|Gallery)"
    r"|[^\W\d]{2,8}(?:航空公司|航空|空军|海军|博物馆|美术馆)"
)
_ASKS_ORGANISATION = re.compile(
    r"airline|operator|company|museum|gallery|organi[sz]ation|公司|博物馆|机构", re.IGNORECASE
)
_ASKS_WORK_OR_PLACE = re.compile(
    r"\b(?:work|artwork|painting|picture|sculpture|statue|book|novel|album|film|movie|landmark|place|sight|"
    r"building|tower|bridge|monument|church|cathedral|castle|palace|temple|where)s?\b"
    r"|画|作品|雕塑|雕像|书|电影|景点|地标|建筑|哪里|什么地方",
    re.IGNORECASE,
)
"""Questions after whose answer a plain name is an author or a place, seldom a rival."""

_PLACES = frozenset(
    "argentina|australia|austria|bangladesh|belgium|brazil|cambodia|canada|chile|china|colombia|croatia|"
    "czech republic|denmark|egypt|england|ethiopia|finland|france|germany|greece|hungary|iceland|india|"
    "indonesia|iran|iraq|ireland|israel|italy|japan|jordan|kenya|laos|malaysia|mexico|mongolia|morocco|"
    "myanmar|nepal|netherlands|the netherlands|new zealand|nigeria|norway|pakistan|peru|philippines|poland|"
    "portugal|romania|russia|saudi arabia|scotland|singapore|south africa|south korea|spain|sri lanka|sweden|"
    "switzerland|syria|taiwan|thailand|turkey|uae|uk|ukraine|united arab emirates|united kingdom|"
    "united states|usa|us|uzbekistan|vietnam|wales|"
    "amsterdam|athens|bangkok|barcelona|beijing|berlin|brussels|budapest|cairo|chicago|copenhagen|delhi|dubai|"
    "dublin|florence|hong kong|istanbul|jerusalem|kyoto|lisbon|london|los angeles|madrid|mexico city|milan|"
    "moscow|mumbai|new york|new york city|oslo|paris|prague|rio de janeiro|rome|san francisco|seoul|shanghai|"
    "stockholm|sydney|tokyo|toronto|venice|vienna|warsaw|washington|北京|上海|巴黎|伦敦|罗马|东京|纽约|"
    "中国|日本|韩国|美国|英国|法国|德国|意大利|西班牙|荷兰|俄罗斯|印度|泰国|埃及|希腊|加拿大".split("|")
)
_PREPOSITION = re.compile(r"(by|in|at|from|of|位于|作者)[:\s]*(?=\S)")
_PARTICLES = frozenset("van von der den de du da di del della la le al el bin of the dos y".split())
_SEPARATOR = re.compile(r"\s*[,;()\[\]、。]\s*|\s+-\s+")
_MAX_NAMES = 2


@dataclass(frozen=True)
class Reference:
    """What a tail is held against: the matched name of gold, all its names, its finer names."""

    name: str
    accepted: frozenset[Words]
    finer: frozenset[Words]
    question: str

    @property
    def words(self) -> Words:
        return words(self.name)


def adds_only_detail(tail: str, reference: Reference, *, cased: bool) -> bool | None:
    """None when the tail may name something else; else whether it makes the answer more specific.

    `cased`: the answer has capitals at all, so that a name can be told by its first letter.
    """
    tail = drop_generic_noun(tail, reference.question)
    if hedges(tail) or _glued(tail):
        return None
    pieces = [piece for part in _SEPARATOR.split(tail) for piece in _phrases(part) if piece]
    kinds = [_kind(piece, reference, cased) for piece in pieces]
    if None in kinds or not _names_are_anchored(kinds):
        return None
    if "name" in kinds and not _ASKS_WORK_OR_PLACE.search(reference.question):
        return None
    return any(kind != "same" for kind in kinds)


def _names_are_anchored(kinds: list[Piece | None]) -> bool:
    """At most two plain names in a row, and a date or place right after them."""
    waiting = 0
    for kind in kinds:
        waiting = waiting + 1 if kind == "name" else waiting
        if waiting > _MAX_NAMES or (waiting and kind not in ("name", "date", "place")):
            return False
        waiting = waiting if kind == "name" else 0
    return waiting == 0


def without_operator(plain: str, question: str) -> str:
    """An answer without the organisation in front of it: "Southwest Airlines Boeing 737-800"."""
    found = None if _ASKS_ORGANISATION.search(question) else _ORGANISATION.match(plain)
    return plain[found.end() :].lstrip() if found and not hedges(found.group()) else plain


def _glued(tail: str) -> bool:
    """Whether the tail goes on without a separator, a preposition or a date in between."""
    words_of_tail = tail.strip()
    introduced = _SEPARATOR.match(tail) or _PREPOSITION.match(words_of_tail) or _DATE.match(words_of_tail)
    return bool(words_of_tail) and introduced is None


def _phrases(part: str) -> list[str]:
    """A part cut before each preposition: "by Van Gogh in New York" is two phrases."""
    return re.split(r"\s+(?=(?:by|in|at|from|of)\s)", part.strip(" .:"))


def _kind(piece: str, reference: Reference, cased: bool) -> Piece | None:
    """What a piece is, or None when it may be another candidate."""
    if words(piece) in reference.accepted:
        return "same"
    if words(piece) in reference.finer:
        return "finer"
    match = _PREPOSITION.match(piece)
    if match:
        return _phrase_kind(match.group(1), piece[match.end() :], reference, cased)
    kind = _type(piece)
    same_type = kind != "name" and kind == _type(reference.name)
    asked = kind == "organisation" and _ASKS_ORGANISATION.search(reference.question) is not None
    shared = not set(words(piece)).isdisjoint(reference.words)
    return None if same_type or asked or shared else kind


def _phrase_kind(preposition: str, rest: str, reference: Reference, cased: bool) -> Piece | None:
    """After a single word of gold a plain name can make another entity: "rose of Sharon", "Stand by Me"."""
    several_words = len(reference.words) > 1
    if preposition == "of" and not several_words:
        return None
    if _type(rest) in ("date", "organisation", "place"):
        return "phrase"
    if _is_name(rest, any_case=preposition == "by" and not cased and several_words):
        return "phrase" if several_words else "name"
    return None


def _type(piece: str) -> Type | None:
    label = _LABEL.match(piece)
    if label and re.fullmatch(r"[A-Za-z0-9-]{2,10}", piece[label.end() :]):
        return "registration"
    if _DATE.fullmatch(piece):
        return "date"
    if _REGISTRATION.fullmatch(piece):
        return "registration"
    if piece.casefold() in _PLACES:
        return "place"
    if _ORGANISATION.fullmatch(piece):
        return "organisation"
    return "name" if _is_name(piece) else None


def _is_name(text: str, *, any_case: bool = False) -> bool:
    """Up to six words without digits, each capitalised, CJK or a particle ("van", "de")."""
    parts = text.removeprefix("the ").split()
    if not 1 <= len(parts) <= 6 or any(char.isdecimal() for char in text):
        return False
    return parts[0] not in _PARTICLES and all(_is_name_word(part, any_case) for part in parts)


def _is_name_word(word: str, any_case: bool) -> bool:
    if not re.fullmatch(r"[^\W\d_][\w'’.&-]*", word):
        return False
    return any_case or word[0].isupper() or is_cjk(word[0]) or word in _PARTICLES
