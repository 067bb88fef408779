"""`make fuzz` finds every property test, and each takes bytes as its input."""

from __future__ import annotations

import pytest

from tests.fuzz import TESTS, properties

FOUND = properties(sorted(TESTS.rglob("test_*_properties.py")))


def test_each_file_of_properties_has_some() -> None:
    files = {name.partition(":")[0].rpartition(".")[2] for name in FOUND}
    assert files == {path.stem for path in TESTS.rglob("test_*_properties.py")}


@pytest.mark.parametrize("name", FOUND)
def test_each_holds_for_bytes_of_zeros(name: str) -> None:
    FOUND[name](bytes(512))
