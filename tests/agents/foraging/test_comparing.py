"""Which found picture is held beside the task's."""

from __future__ import annotations

import json

from fieldmark.agents.foraging.comparing import comparison, to_look_at
from fieldmark.agents.foraging.ledger import Evidence, Hit, Hypothesis, Ledger
from fieldmark.trace import Picture

HITS = (
    Hit("Saab 340B of SkyTaxi", "index:1", 0.4, same_picture=False),
    Hit("Saab 2000 at Bern", "index:2", 0.8, same_picture=False),
    Hit("Saab 340B", "index:3", 1.0, same_picture=True),
)
SEARCHED = Evidence("E1", "reverse_image_search", "{}", 3, hits=HITS)
SHEET = Picture(blob="a" * 64, media_type="image/jpeg", width=10, height=10)
CROP = Evidence("E2", "crop_zoom", "{}", 5, pictures=(SHEET,))


def other(ledger: Ledger, name: str, *cites: str) -> str | None:
    call = comparison(ledger, Hypothesis(name, cites=cites))
    return json.loads(call.arguments)["other"] if call else None


def test_the_picture_whose_title_names_the_candidate() -> None:
    ledger = Ledger(evidence=(SEARCHED,))
    assert other(ledger, "SAAB 340B") == "index:1"
    assert other(ledger, "Saab 2000") == "index:2"
    assert other(ledger, "The house at the Aare") is None


def test_else_the_best_of_the_search_it_cites() -> None:
    ledger = Ledger(evidence=(SEARCHED,))
    assert other(ledger, "萨博2000", "E1") == "index:2"
    assert other(ledger, "萨博2000") is None


def test_no_comparison_is_made_twice() -> None:
    another = Evidence("E2", "compare_images", '{"other": "index:12"}', 5)
    assert other(Ledger(evidence=(SEARCHED, another)), "SAAB 340B") == "index:1"
    compared = Evidence("E2", "compare_images", '{"other": "index:1"}', 5)
    ledger = Ledger(evidence=(SEARCHED, compared))
    assert other(ledger, "SAAB 340B") is None
    assert other(ledger, "Saab 2000") == "index:2"
    assert other(ledger, "Saab 2000", "E2") is None  # the model has compared, by itself


def test_comparisons_are_looked_at_before_what_is_cited() -> None:
    compared = Evidence("E3", "compare_images", "{}", 7, pictures=(SHEET,))
    ledger = Ledger(evidence=(SEARCHED, CROP, compared))
    assert [each.id for each in to_look_at(ledger, Hypothesis("Saab", cites=("E1", "E2")))] == ["E3", "E2"]
    assert [each.id for each in to_look_at(ledger, Hypothesis("Saab"))] == ["E3"]
