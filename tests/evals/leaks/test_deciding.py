"""A copy of the picture is no leak by itself: the answer must stand with it."""

from __future__ import annotations

import pytest

from fieldmark.evals.leaks.copies import Copy
from fieldmark.evals.leaks.deciding import giveaway, holds
from fieldmark.task import Gold

GOLD = Gold(answer="Saab 340", aliases=["SF340", "萨博340"])


def nowhere(url: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My photos · SAAB 340 at Zürich", "Saab 340"),
        ("saab-340_b.jpg", "Saab 340"),
        ("一架萨博340飞机", "萨博340"),
        ("reg B‑2501N seen", "b-2501n"),
        ("C# or ☂", "☂"),
    ],
)
def test_a_name_stands_in_a_text_however_it_is_written(text: str, name: str) -> None:
    assert holds(text, name)


@pytest.mark.parametrize(
    ("text", "name"), [("Saab 3400", "Saab 340"), ("Saabs, 340 of them", "Saab 340"), ("", "☂")]
)
def test_a_part_of_another_name_is_none(text: str, name: str) -> None:
    assert not holds(text, name)


@pytest.mark.parametrize(
    ("copy", "where"),
    [
        (Copy("search", "https://a.example/p/1", "A Saab 340 · Flickr"), "title"),
        (Copy("search", "https://a.example/photo/saab%20340.jpg"), "address"),
        (Copy("page", "https://a.example/1.jpg", page_text="Here the SF340 lands."), "text"),
    ],
)
def test_title_address_and_page_text_give_away(copy: Copy, where: str) -> None:
    found = giveaway([Copy("search", "https://b.example", "Planes"), copy], GOLD, nowhere)
    assert found is not None
    assert (found.where, found.copy) == (where, copy)


def test_a_copy_without_the_answer_is_none_unless_it_is_a_record_of_a_dataset() -> None:
    copy = Copy("search", "https://data.example/set/0001", "An aircraft")
    assert giveaway([copy], GOLD, nowhere) is None
    found = giveaway([copy], GOLD, lambda url: "data.example" in url)
    assert found is not None
    assert "record of a source dataset" in found.reason
