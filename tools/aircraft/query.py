"""What a look-up asks for: a mark, a 24-bit address, a serial number, or whichever of them it may be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fieldmark.tools.aircraft.n_numbers import address_of, n_number_of
from fieldmark.tools.aircraft.nations import nation_of_address, nation_of_prefix
from fieldmark.tools.reading.registrations import Mark, key, marks, nation_of, normalised

_KINDS = ("registration", "icao24", "serial")


@dataclass(frozen=True)
class Query:
    """`mark`, `address`, `serial`: the text as each, or empty where it cannot be that."""

    text: str
    mark: str
    address: str
    serial: str

    @classmethod
    def of(cls, query: str) -> Query:
        """`query` with or without `registration:`, `icao24:` or `serial:` before it."""
        kind, colon, rest = query.strip().partition(":")
        kind = kind.strip().lower() if colon and kind.strip().lower() in _KINDS else ""
        text = rest.strip() if kind else query.strip()
        found = re.fullmatch(r"(?:0x)?([0-9a-f]{6})", text.lower())
        return cls(
            text,
            key(text) if kind in ("", "registration") else "",
            found[1] if found and kind in ("", "icao24") else "",
            key(text) if kind in ("", "serial") else "",
        )

    @property
    def computed(self) -> dict[str, str] | None:
        """Mark and address of a US aircraft, whichever was asked for; None for others."""
        address = address_of(self.mark)
        if address is None and self.address:
            address = int(self.address, 16)
        mark = n_number_of(address) if address is not None else None
        return {"registration": mark, "icao24": f"{address:06x}"} if mark else None

    @property
    def is_mark(self) -> bool:
        """It may be a misread mark: not a 24-bit address of a known nation, nor too long for one."""
        known = bool(self.address) and nation_of_address(int(self.address, 16)) is not None
        return 2 <= len(self.mark) <= 9 and not (known and nation_of(self.text.upper()) is None)

    def nation(self, registrations: Iterable[str]) -> str | None:
        """By the marks found, else the text as read, else the address, else a misreading past the prefix."""
        spellings = [*registrations, self.text if self.mark else ""]
        by_mark = (
            nation_of(normalised(text)) or nation_of_prefix(normalised(text)) for text in spellings if text
        )
        whole = next((nation for nation in by_mark if nation), None)
        if whole:
            return whole
        if self.address:
            return nation_of_address(int(self.address, 16))
        return next((mark.nation for mark in marks(self.mark) if not _in_prefix(mark)), None)


def _in_prefix(mark: Mark) -> bool:
    """Whether the characters that name the nation were themselves read otherwise."""
    prefix = mark.text.partition("-")[0] if "-" in mark.text else mark.text[:1]
    return any(place < len(prefix) for place, _, _ in mark.changed)
