"""What is sealed for one node is read by that node alone."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidTag

from fieldmark.cluster.sealing import Box, seal

SECRET = b"sk-the-key-of-a-run"


def test_only_the_box_it_is_for_opens_it() -> None:
    box, other = Box(), Box()
    sealed = seal(SECRET, box.public)
    assert SECRET not in sealed
    assert box.open(sealed) == SECRET
    with pytest.raises(InvalidTag):
        other.open(sealed)


def test_altered_it_is_not_opened_and_no_two_are_alike() -> None:
    box = Box()
    sealed = seal(SECRET, box.public)
    with pytest.raises(InvalidTag):
        box.open(sealed[:-1] + bytes([sealed[-1] ^ 1]))
    assert seal(SECRET, box.public)[32:] != sealed[32:]
