"""Which texts break which rule, by the lexicon."""

from __future__ import annotations

import pytest

from fieldmark.evals.amigo.constraint import Constraint, Reply
from fieldmark.evals.amigo.detector import LexiconDetector, Past
from fieldmark.evals.amigo.hearing import hear
from fieldmark.evals.amigo.information import askable
from fieldmark.evals.amigo.lexicon import base_lexicon
from tests.evals.amigo.galleries import dresses

LEXICON = base_lexicon()
DETECTOR = LexiconDetector(LEXICON)
POCKETS, BELT = "Does it have pockets?", "Does it have a belt?"


def past(*asked: tuple[str, Reply]) -> list[Past]:
    return [Past(question, reply, LEXICON.constraint(question)) for question, reply in asked]


def kind(text: str, *asked: tuple[str, Reply], recheck: bool = False) -> str | None:
    found = DETECTOR.check(text, past(*asked), recheck)
    return found.kind if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Does it have long sleeves?", "prohibited_attribute"),
        ("Is it floor-length?", "prohibited_attribute"),
        ("Is your favorite dress blue?", "prohibited_attribute"),
        ("Does it have polka dots?", "prohibited_attribute"),
        ("Does the model wear a hat?", "prohibited_attribute"),
        ("Is it image #3?", "image_index"),
        ("Is it dress 4?", "image_index"),
        ("Is it the second dress?", "image_index"),
        ("Is it one from the batch with the red one?", "image_index"),
        ("Does it have pockets? And a collar?", "two_questions"),
        ("What neckline does it have?", "not_yes_no"),
        ("Let me look at the pictures first.", "neither"),
        ("My guess of your favorite dress: #1 or #2? My guess: #2", "neither"),
        ("Does it have pockets and a belt?", "several_features"),
        ("Does it have flutter sleeves?", None),
        ("Does it have a V-neckline or a square neckline?", None),
        ("Does it have an elasticated waistband rather than a belt?", None),
        ("<think>Is it red? Is it blue?</think>Does it have **pockets**?", None),
        ("Does it have a gizmo?", None),
        ("Does it have a collar", None),
    ],
)
def test_by_itself(text: str, expected: str | None) -> None:
    assert kind(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Does it have welt pockets?", "repeated_type"),
        ("Does it have pockets and a belt?", "compound_of_confirmed"),
        ("Does it have pockets and a zipper?", "repeated_type"),
        ("Does it have pockets and a slit?", "several_features"),
        ("Does it have a slit?", None),
    ],
)
def test_after_pockets_and_a_belt_were_confirmed_and_a_zipper_denied(text: str, expected: str | None) -> None:
    assert kind(text, (POCKETS, "Yes"), (BELT, "Yes"), ("Is there a zipper?", "No")) == expected


def test_the_same_thing_may_be_asked_again_only_where_that_is_allowed() -> None:
    assert kind("Are there any pockets?", (POCKETS, "No")) == "repeated_type"
    assert kind("Are there any pockets?", (POCKETS, "No"), recheck=True) is None
    assert kind("Are there welt pockets?", (POCKETS, "No"), recheck=True) == "repeated_type"


@pytest.mark.parametrize(
    ("question", "constraint"),
    [
        ("Is the neckline square?", Constraint(type="neckline", values=("square",))),
        ("Does it have a V or square neckline?", Constraint(type="neckline", values=("v", "square"))),
        ("Is it without a collar?", Constraint(type="collar", values=("any",), negated=True)),
        ("Doesn't it have a side slit?", Constraint(type="slit", values=("side",), negated=True)),
        ("Is there a high-low hem?", Constraint(type="hemline", values=("high_low",))),
        ("Does it have pockets and a belt?", None),
    ],
)
def test_a_question_as_a_constraint(question: str, constraint: Constraint | None) -> None:
    assert LEXICON.constraint(question) == constraint


def test_our_own_words_for_a_question_are_read_back_as_that_question() -> None:
    labels = [each.attributes for each in dresses().images.values()]
    every = [
        Constraint(type=name, values=(value,))
        for name, kind in LEXICON.types.items()
        for value in kind.values
    ]
    for constraint in [*every, *askable(labels, LEXICON)]:
        question = LEXICON.question(constraint)
        assert LEXICON.constraint(question) == constraint, question
        assert kind(question) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("My guess of your favorite dress: #12", 12),
        ("I am certain now.\n**My guess of your favorite dress: #3**", 3),
        ("my guess of your favourite garment is #4", 4),
        ("My guess of your favorite dress: #<number>", None),
        ("Is my guess right?", None),
    ],
)
def test_the_line_of_a_guess(text: str, number: int | None) -> None:
    assert hear(text).guess == number
