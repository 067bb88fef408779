"""The facts of an episode as filters: each a name in a URL, a sentence for people, and a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fieldmark.evals.inspector.index import EpisodeRow
from fieldmark.findings import GoldFacts, TraceFacts


@dataclass(frozen=True)
class Fact:
    """`private`: gold was needed to find it, so it is offered only where the private part is."""

    title: str
    holds: Callable[[EpisodeRow], bool]
    private: bool = False


def _trace(test: Callable[[TraceFacts], bool]) -> Callable[[EpisodeRow], bool]:
    return lambda row: bool(row.facts and test(row.facts.trace))


def _gold(test: Callable[[GoldFacts, EpisodeRow], bool]) -> Callable[[EpisodeRow], bool]:
    return lambda row: bool(row.facts and row.facts.gold and test(row.facts.gold, row))


FACTS = {
    "never_looked": Fact("never looked at the picture", _trace(lambda facts: not facts.looked)),
    "looked": Fact("looked at the picture", _trace(lambda facts: facts.looked)),
    "never_searched": Fact("never looked anything up", _trace(lambda facts: not facts.searched)),
    "searched": Fact("looked something up", _trace(lambda facts: facts.searched)),
    "failed_act": Fact("an act failed", _trace(lambda facts: facts.failed_acts > 0)),
    "picture_lost": Fact("picture lost", _trace(lambda facts: facts.picture_lost)),
    "no_picture": Fact("no picture reached the model", _trace(lambda facts: facts.picture == "none")),
    "gold_seen_wrong": Fact(
        "gold seen but answered wrong", _gold(lambda facts, row: facts.seen is True and row.wrong), True
    ),
    "gold_unseen_wrong": Fact(
        "gold never seen, answered wrong", _gold(lambda facts, row: facts.seen is False and row.wrong), True
    ),
    "gold_dropped": Fact("named gold, answered otherwise", _gold(lambda facts, row: facts.dropped), True),
    "lucky": Fact("right without support", _gold(lambda facts, row: facts.supported is False), True),
}
"""Name → fact. An episode without a row in facts.jsonl has none of them."""


def holding(row: EpisodeRow) -> list[str]:
    """The names of the facts that hold of an episode."""
    return [name for name, fact in FACTS.items() if fact.holds(row)]
