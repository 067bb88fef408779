"""Aircraft registrations: a strict grammar of nationality prefixes, and the marks a misreading could be.

Prefixes as in ICAO Annex 7 supplements; suffixes are the forms in common civil use. Not covered: ultralights
with marks of their own, military serials, historic forms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

_GROUPS = ("O0Q", "I1", "B8", "S5", "Z2", "G6")  # the second is what a folded mark has
_LIKE = {char: group for group in _GROUPS for char in group}
_FOLD = str.maketrans({char: group[1] for group in _GROUPS for char in group} | {"-": None, " ": None})
_MAX_CHANGES = 3
_DASHES = re.compile(r"[\u2010-\u2015\u2212\uFE58\uFE63\uFF0D_~=]")

_NO_DASH = {  # mark without a dash
    "United States": r"N[1-9](?:\d{0,4}|\d{0,3}[A-HJ-NP-Z]|\d{0,2}[A-HJ-NP-Z]{2})",
    "Japan": r"JA(?:\d{4}|\d{3}[A-HJ-NP-Z]|\d{2}[A-HJ-NP-Z]{2})",
    "South Korea": r"HL\d{4}",
    "Venezuela": r"YV\d{4}",
    "Dominican Republic": r"HI\d{3,4}",
}
_SPECIAL = {  # prefix and suffix of nations with forms of their own
    "Germany": r"D-(?:[A-Z]{4}|\d{4})",
    "United Kingdom": r"G-[A-Z]{4}",
    "France": r"F-[A-Z]{4}",
    "Italy": r"I-[A-Z0-9]{4}",
    "Canada": r"C-[FGI][A-Z]{3}",
    "China": r"B-(?:\d{4}[A-HJ-NP-Z]?|\d{3}[A-HJ-NP-Z]|\d{2}[A-HJ-NP-Z]{2}|00[A-HJ-NP-Z]{2})",
    "Taiwan": r"B-\d{5}",
    "Hong Kong": r"B-[HKL][A-Z]{2}",
    "Macau": r"B-M[A-Z]{2}",
    "Switzerland": r"HB-(?:[A-Z]{3}|\d{3,4})",
    "Netherlands": r"PH-(?:[A-Z]{3}|\d{3,4})",
    "Austria": r"OE-(?:[A-Z]{3}|\d{4})",
    "Poland": r"SP-(?:[A-Z]{3}|\d{4})",
    "Czech Republic": r"OK-(?:[A-Z]{3}|\d{4})",
    "Russia": r"RA-\d{4,5}[A-Z]?",
    "Philippines": r"RP-C\d{3,4}",
    "Vietnam": r"VN-[ABC]\d{3}",
    "Ukraine": r"UR-(?:[A-Z]{3}|\d{5})",
    "Belarus": r"EW-\d{3}[A-Z]{2}",
    "Uzbekistan": r"UK-?\d{5}",
    "Kazakhstan": r"UP-[A-Z]{1,2}\d{3,4}",
    "Kyrgyzstan": r"EX-\d{3,5}",
    "Colombia": r"HK-\d{4}[A-Z]?",
    "Bolivia": r"CP-\d{4}",
    "Peru": r"OB-\d{4}",
    "Cuba": r"CU-[A-Z]\d{4}",
    "Panama": r"HP-\d{4}[A-Z]{0,3}",
    "Bahrain": r"A9C-[A-Z]{2,3}",
    "Oman": r"A4O-[A-Z]{2,3}",
    "Bermuda": r"VP-B[A-Z]{2}|VQ-B[A-Z]{2}",
    "Cayman Islands": r"VP-C[A-Z]{2}",
    "Tunisia": r"TS-[A-Z]{3}",
    "Serbia": r"YU-(?:[A-Z]{3}|\d{4})",
}
_THREE_LETTERS = {  # prefixes followed by a dash and three letters
    "Australia": "VH",
    "Ireland": "EI EJ",
    "Singapore": "9V",
    "Malaysia": "9M",
    "Malta": "9H",
    "United Arab Emirates": "A6",
    "Qatar": "A7",
    "Bhutan": "A5",
    "Pakistan": "AP",
    "Chile": "CC",
    "Morocco": "CN",
    "Portugal": "CS",
    "Uruguay": "CX",
    "Angola": "D2",
    "Fiji": "DQ",
    "Spain": "EC",
    "Iran": "EP",
    "Moldova": "ER",
    "Estonia": "ES",
    "Ethiopia": "ET",
    "Hungary": "HA",
    "Ecuador": "HC",
    "Thailand": "HS",
    "Saudi Arabia": "HZ",
    "Jordan": "JY",
    "Norway": "LN",
    "Argentina": "LV LQ",
    "Luxembourg": "LX",
    "Lithuania": "LY",
    "Bulgaria": "LZ",
    "Lebanon": "OD",
    "Finland": "OH",
    "Slovakia": "OM",
    "Belgium": "OO",
    "Denmark": "OY",
    "Papua New Guinea": "P2",
    "Aruba": "P4",
    "Indonesia": "PK",
    "Brazil": "PP PR PS PT PU",
    "Suriname": "PZ",
    "Bangladesh": "S2",
    "Slovenia": "S5",
    "Seychelles": "S7",
    "Sweden": "SE",
    "Sudan": "ST",
    "Egypt": "SU",
    "Greece": "SX",
    "Turkey": "TC",
    "Iceland": "TF",
    "Guatemala": "TG",
    "Costa Rica": "TI",
    "Namibia": "V5",
    "Brunei": "V8",
    "India": "VT",
    "Mexico": "XA XB XC",
    "Cambodia": "XU",
    "Myanmar": "XY",
    "Afghanistan": "YA",
    "Iraq": "YI",
    "Latvia": "YL",
    "Romania": "YR",
    "North Macedonia": "Z3",
    "New Zealand": "ZK ZL ZM",
    "South Africa": "ZS ZU ZT",
    "Mauritius": "3B",
    "Azerbaijan": "4K",
    "Georgia": "4L",
    "Montenegro": "4O",
    "Sri Lanka": "4R",
    "Israel": "4X",
    "Libya": "5A",
    "Cyprus": "5B",
    "Tanzania": "5H",
    "Nigeria": "5N",
    "Madagascar": "5R",
    "Uganda": "5X",
    "Kenya": "5Y",
    "Senegal": "6V",
    "Yemen": "7O",
    "Algeria": "7T",
    "Maldives": "8Q",
    "Croatia": "9A",
    "Ghana": "9G",
    "Kuwait": "9K",
    "Nepal": "9N",
    "Trinidad and Tobago": "9Y",
    "Armenia": "EK",
    "Bosnia and Herzegovina": "E7",
    "Zambia": "9J",
    "Zimbabwe": "Z",
}


_THREE = {
    nation: f"(?:{'|'.join(prefixes.split())})-[A-Z]{{3}}" for nation, prefixes in _THREE_LETTERS.items()
}
_FORMS = {**_NO_DASH, **_SPECIAL, **_THREE}
_NATIONS = tuple(_FORMS)
_ANY = re.compile("|".join(f"({form})" for form in _FORMS.values()))
_ANY_UNDASHED = re.compile(re.sub(r"(\[[^]]*\])|-\??", lambda part: part[1] or "", "|".join(_FORMS.values())))


@dataclass(frozen=True)
class Mark:
    """A grammar-valid registration. `changed`: (position in `text`, character as read, as assumed)."""

    text: str
    nation: str
    changed: tuple[tuple[int, str, str], ...] = ()


def normalised(reading: str) -> str:
    """Upper case, full-width folded (NFKC), every dash a `-`, no spaces: 'n 105 ba' -> 'N105BA'."""
    text = _DASHES.sub("-", unicodedata.normalize("NFKC", reading).upper())
    return re.sub(r"-+", "-", re.sub(r"\s*-\s*", "-", text).replace(" ", ""))


def key(reading: str) -> str:
    """What two spellings of one mark share: its letters and digits."""
    return re.sub(r"[^0-9A-Z]", "", normalised(reading))


def folded(reading: str) -> str:
    """What all readings of one mark share: `key` with confusable characters as one: 'G-8OAC' -> '680AC'."""
    quick = reading.upper().translate(_FOLD)
    return quick if quick.isascii() and quick.isalnum() else key(reading).translate(_FOLD)


@lru_cache(maxsize=4096)
def nation_of(text: str) -> str | None:
    """The nation of a whole, normalised mark; None when it follows no nation's form."""
    found = _ANY.fullmatch(text)
    return _NATIONS[found.lastindex - 1] if found and found.lastindex else None


def marks(reading: str) -> list[Mark]:
    """Every valid mark that `reading` is or could be by confusable characters, fewest changes first.

    A missing or misplaced dash is put where the grammar has it. At most 3 characters are changed.
    """
    letters = key(reading)
    if not 2 <= len(letters) <= 9:
        return []
    found: dict[str, Mark] = {}
    for variant in filter(_ANY_UNDASHED.fullmatch, _variants(letters)):
        for text in _dashed(variant):
            nation = nation_of(text)
            if nation and text not in found:
                found[text] = Mark(text, nation, changes(letters, text))
    return sorted(found.values(), key=lambda mark: (len(mark.changed), mark.text))


def _variants(letters: str) -> Iterator[str]:
    """`letters` with up to `_MAX_CHANGES` characters read otherwise."""
    places = [at for at, char in enumerate(letters) if char in _LIKE]
    for count in range(_MAX_CHANGES + 1):
        for chosen in combinations(places, count):
            others = (_LIKE[letters[at]].replace(letters[at], "") for at in chosen)
            for chars in product(*others):
                text = list(letters)
                for at, char in zip(chosen, chars, strict=True):
                    text[at] = char
                yield "".join(text)


def _dashed(letters: str) -> list[str]:
    return [letters, *(f"{letters[:at]}-{letters[at:]}" for at in (1, 2, 3) if at < len(letters) - 1)]


def changes(letters: str, text: str) -> tuple[tuple[int, str, str], ...]:
    """(position in `text`, character of `letters`, of `text`) where the mark `text` differs from a `key`."""
    places = [at for at, char in enumerate(text) if char.isalnum()]
    pairs = zip(places, letters, strict=True)
    return tuple((at, read, text[at]) for at, read in pairs if read != text[at])
