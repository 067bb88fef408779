"""Registrations: the arithmetic of N-numbers, and the grammar on any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fieldmark.tools.aircraft.n_numbers import FIRST, LAST, address_of, n_number_of
from fieldmark.tools.reading import registrations

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789- –o"


@given(st.integers(FIRST, LAST - 1))
def test_every_address_has_one_n_number_and_they_stand_in_one_order(address: int) -> None:
    mark, following = n_number_of(address), n_number_of(address + 1)
    assert mark is not None
    assert following is not None
    assert address_of(mark) == address
    letters_first = str.maketrans(
        "0123456789", "[\\]^_`abcd"
    )  # letters sort before digits, as the scheme has it
    assert mark[1:].translate(letters_first) < following[1:].translate(letters_first)


@given(st.text(LETTERS, max_size=9) | st.text(max_size=12))
def test_any_reading_gives_marks_of_the_grammar_the_nearest_first(reading: str) -> None:
    found = registrations.marks(reading)
    assert all(registrations.nation_of(mark.text) for mark in found)
    changes = [len(mark.changed) for mark in found]
    assert changes == sorted(changes)
    address_of(registrations.normalised(reading))


@given(st.integers(FIRST, LAST))
def test_an_n_number_is_read_as_itself_first(address: int) -> None:
    mark = n_number_of(address)
    assert mark is not None
    assert registrations.marks(mark)[0].text == mark
    assert registrations.nation_of(mark) == "United States"
