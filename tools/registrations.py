"""Aircraft registrations: a strict grammar of nationality prefixes, and the marks a misreading could be.

Prefixes as in ICAO Annex 7 supplements; suffixes are the forms in common civil use. Not covered: ultralights
with marks of their own, military serials, historic forms.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import product

_GROUPS = ("O0Q", "I1", "B8", "S5", "Z2", "G6")
_LIKE = {char: group for group in _GROUPS for char in group}
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
    "Ukraine": "UR",
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


def _grammar() -> list[tuple[str, re.Pattern[str]]]:
    forms = {**_NO_DASH, **_SPECIAL}
    forms |= {
        nation: f"(?:{'|'.join(prefixes.split())})-[A-Z]{{3}}" for nation, prefixes in _THREE_LETTERS.items()
    }
    return [(nation, re.compile(form)) for nation, form in forms.items()]


_GRAMMAR = _grammar()


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


def nation_of(text: str) -> str | None:
    """The nation of a whole, normalised mark; None when it follows no nation's form."""
    return next((nation for nation, form in _GRAMMAR if form.fullmatch(text)), None)


def marks(reading: str) -> list[Mark]:
    """Every valid mark that `reading` is or could be by confusable characters, fewest changes first.

    A missing or misplaced dash is put where the grammar has it. At most 3 characters are changed.
    """
    letters = key(reading)
    if not 2 <= len(letters) <= 9:
        return []
    found: dict[str, Mark] = {}
    for variant in _variants(letters):
        for text in _dashed(variant):
            nation = nation_of(text)
            if nation and text not in found:
                found[text] = Mark(text, nation, _changes(letters, text))
    return sorted(found.values(), key=lambda mark: (len(mark.changed), mark.text))


def _variants(letters: str) -> list[str]:
    spellings = ("".join(chars) for chars in product(*(_LIKE.get(char, char) for char in letters)))
    return [text for text in spellings if _distance(letters, text) <= _MAX_CHANGES]


def _distance(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def _dashed(letters: str) -> list[str]:
    return [letters, *(f"{letters[:at]}-{letters[at:]}" for at in (1, 2, 3) if at < len(letters) - 1)]


def _changes(letters: str, text: str) -> tuple[tuple[int, str, str], ...]:
    places = [at for at, char in enumerate(text) if char != "-"]
    pairs = zip(places, letters, strict=True)
    return tuple((at, read, text[at]) for at, read in pairs if read != text[at])
