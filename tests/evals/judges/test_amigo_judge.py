"""The `amigo` judge: the place that was guessed is the target's, or not."""

from __future__ import annotations

import pytest

from fieldmark.evals.judges import get_judge
from fieldmark.task import Gold

GOLD = Gold(answer="image 7", aliases=["#7"])


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("image 7", "correct"),
        ("#7", "correct"),
        ("My guess of your favorite dress: #7", "correct"),
        ("image 17", "incorrect"),
        ("image 7 or 8", "incorrect"),
        ("the red one", "incorrect"),
        ("", "incorrect"),
        (None, "incorrect"),
    ],
)
def test_a_guess_is_right_or_wrong(answer: str | None, label: str) -> None:
    assert get_judge("amigo").judge("Which?", GOLD, answer).label == label
