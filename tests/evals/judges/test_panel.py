"""Several votes on one answer."""

from __future__ import annotations

from itertools import permutations

import pytest

from fieldmark.evals.judges.base import Judgement
from fieldmark.evals.judges.panel import decide
from fieldmark.records import VerdictLabel

RIGHT, WRONG = Judgement.of("correct", "same"), Judgement.of("incorrect", "other")
HALF, UNSURE = Judgement("partially_correct", 0.4, "part"), Judgement.of("uncertain", "?")


@pytest.mark.parametrize(
    ("votes", "label", "score"),
    [
        ([RIGHT, WRONG, RIGHT], "correct", 1.0),
        ([RIGHT, WRONG, RIGHT, WRONG], "uncertain", 0.0),
        ([RIGHT, HALF, WRONG], "uncertain", 0.0),
        ([HALF, Judgement("partially_correct", 0.6, "part"), RIGHT], "partially_correct", 0.5),
        ([UNSURE, UNSURE, RIGHT], "uncertain", 0.0),
    ],
)
def test_most_votes_win_and_a_tie_is_uncertain_whatever_the_order(
    votes: list[Judgement], label: VerdictLabel, score: float
) -> None:
    found = [decide(order) for order in permutations(votes)]
    assert {(said.label, round(said.score, 9)) for said in found} == {(label, score)}
    assert all(sum((said.votes or {}).values()) == len(votes) for said in found)


@pytest.mark.parametrize(("finer", "most"), [((True, True, False), True), ((True, False), False)])
def test_finer_is_what_most_of_the_agreeing_votes_say(finer: tuple[bool, ...], most: bool) -> None:
    votes = [Judgement.of("correct", "same", finer=each) for each in finer]
    assert {decide([*order, WRONG]).finer for order in permutations(votes)} == {most}


def test_one_vote_is_no_panel() -> None:
    assert decide([RIGHT]) == RIGHT
