"""US registrations ↔ ICAO 24-bit addresses: the numbering scheme gives every N-number its place.

N-numbers are laid out in dictionary order with letters before digits, one address each: N1 is a00001, then
N1A, N1AA … N1ZZ, N10 …, up to N99999 = adf7c7. At most five characters follow the N; I and O are not used; at
most two letters, and only at the end; no leading zero. Addresses above adf7c7 are military: no arithmetic.
"""

from __future__ import annotations

import re

FIRST, LAST = 0xA00001, 0xADF7C7
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_FORM = re.compile(r"N([1-9]\d{0,4})([A-HJ-NP-Z]{0,2})")


def _suffixes(room: int) -> int:
    """How many endings without a digit there are when `room` characters are left: none, A, AA, AB …"""
    return 1 + (24 if room else 0) + (24 * 24 if room > 1 else 0)


def _blocks() -> tuple[int, ...]:
    """`[n]`: how many N-numbers begin with a given run of n digits: 101711, 10111, 951, 35, 1."""
    sizes = [1]
    for room in range(1, 5):
        sizes.append(10 * sizes[-1] + _suffixes(room))
    return (0, *reversed(sizes))


_BLOCK = _blocks()


def address_of(n_number: str) -> int | None:
    """The address of a mark such as 'N8710M'; None when it is no N-number."""
    form = _FORM.fullmatch(n_number)
    if form is None or len(n_number) > 6:
        return None
    digits, letters = form.groups()
    address = FIRST + (int(digits[0]) - 1) * _BLOCK[1]
    for length, digit in enumerate(digits[1:], 2):
        address += _suffixes(6 - length) + int(digit) * _BLOCK[length]
    return address + _offset(letters, 5 - len(digits))


def n_number_of(address: int) -> str | None:
    """The mark of an address from a00001 to adf7c7; None outside."""
    if not FIRST <= address <= LAST:
        return None
    digit, rest = divmod(address - FIRST, _BLOCK[1])
    text = f"N{digit + 1}"
    for length in range(1, 5):
        if rest < _suffixes(5 - length):
            break
        digit, rest = divmod(rest - _suffixes(5 - length), _BLOCK[length + 1])
        text += str(digit)
    return text + _suffix(rest, 6 - len(text))


def _offset(letters: str, room: int) -> int:
    if not letters:
        return 0
    after_one = 1 + (24 if room > 1 else 0)
    place = 1 + _LETTERS.index(letters[0]) * after_one
    return place + (1 + _LETTERS.index(letters[1]) if len(letters) > 1 else 0)


def _suffix(place: int, room: int) -> str:
    if place == 0:
        return ""
    first, second = divmod(place - 1, 1 + (24 if room > 1 else 0))
    return _LETTERS[first] + (_LETTERS[second - 1] if second else "")
