"""24-bit addresses: the arithmetic of US registrations, and the blocks of nations."""

from __future__ import annotations

import pytest

from fieldmark.tools.aircraft.n_numbers import FIRST, LAST, address_of, n_number_of
from fieldmark.tools.aircraft.nations import nation_of_address, nation_of_prefix


def test_every_us_address_has_its_own_n_number_and_back() -> None:
    marks = [n_number_of(address) for address in range(FIRST, LAST + 1)]
    assert len(set(marks)) == 915_399
    assert [address_of(mark or "") for mark in marks] == list(range(FIRST, LAST + 1))


@pytest.mark.parametrize(
    ("mark", "address"),
    [
        ("N1", "a00001"),
        ("N1A", "a00002"),
        ("N1AA", "a00003"),
        ("N10", "a0025a"),
        ("N8710M", "abfc71"),
        ("N659DL", "a8ae7f"),
        ("N512WB", "a66ad3"),
        ("N99999", "adf7c7"),
    ],
)
def test_known_pairs(mark: str, address: str) -> None:
    assert address_of(mark) == int(address, 16)
    assert n_number_of(int(address, 16)) == mark


@pytest.mark.parametrize(
    "text", ["N", "N0", "N01", "N1I", "N1O", "N123456", "N1234AB", "N1A1", "n1", "D-AIMA"]
)
def test_what_is_no_n_number_has_no_address(text: str) -> None:
    assert address_of(text) is None


@pytest.mark.parametrize("address", [0, FIRST - 1, LAST + 1, 0xAFFFFF, 0xFFFFFF])
def test_addresses_outside_have_no_n_number(address: int) -> None:
    assert n_number_of(address) is None


@pytest.mark.parametrize(
    ("address", "nation"),
    [
        ("3c65a1", "Germany"),
        ("400f01", "United Kingdom"),
        ("4ca1fa", "Ireland"),
        ("7c6b2d", "Australia"),
        ("c07c2b", "Canada"),
        ("ae01c5", "United States"),
        ("899001", "Taiwan"),
        ("899400", None),
        ("000000", None),
        ("ffffff", None),
    ],
)
def test_the_block_of_an_address_names_the_nation(address: str, nation: str | None) -> None:
    assert nation_of_address(int(address, 16)) == nation


@pytest.mark.parametrize(
    ("mark", "nation"),
    [
        ("T7-ABC", "San Marino"),
        ("M-YJET", "Isle of Man"),
        ("VP-GAB", "Gibraltar"),
        ("T7ABC", None),
        ("T7-", None),
    ],
)
def test_rare_prefixes(mark: str, nation: str | None) -> None:
    assert nation_of_prefix(mark) == nation
