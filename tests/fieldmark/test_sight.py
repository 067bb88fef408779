"""When an agent's model has lost sight of the picture."""

from __future__ import annotations

from fieldmark.sight import Shown, sight_of
from fieldmark.trace import Receipt

EXACT = Receipt(delivered="exact", blob="a", width=800, height=600)
SMALL = Receipt(delivered="resampled", blob="b", width=400, height=300)
TOOLS = ["ocr", "answer"]


def test_the_best_delivery_counts_and_a_refused_one_does_not() -> None:
    sight = sight_of([Shown("m1", EXACT, http=400), Shown("m2", SMALL)])
    assert (sight.delivered, sight.width, sight.height) == ("resampled", 400, 300)
    assert (sight.first_call, sight.calls, sight.refused) == ("m2", 1, 1)
    assert sight_of([Shown("m1", SMALL), Shown("m2", EXACT)]).delivered == "exact"


def test_without_it_there_is_none() -> None:
    assert sight_of([]).delivered == "none"
    assert sight_of([Shown("m1", None), Shown("m2", None)]).lost_at is None


def test_a_compaction_loses_it_from_the_first_call_without_it_to_the_end() -> None:
    with_it, without = [Shown(f"m{n}", EXACT, TOOLS) for n in (1, 2)], Shown("m3", None, TOOLS)
    assert sight_of(with_it).lost_at is None
    assert sight_of([*with_it, without, Shown("m4", None, TOOLS)]).lost_at == "m3"
    assert sight_of([*with_it, without, Shown("m4", EXACT, TOOLS)]).lost_at is None  # it looked again


def test_other_conversations_and_continued_ones_lose_nothing() -> None:
    """A title (no tools), a sub-agent (other tools), a side call; a server that keeps the conversation."""
    title, helper = Shown("m2", None), Shown("m3", None, ["ocr"])
    side = Shown("m4", None, TOOLS, main=False)
    continued = Shown("m5", None, TOOLS, partial=True)
    assert sight_of([Shown("m1", EXACT, TOOLS), title, helper, side, continued]).lost_at is None
