"""The protocol: uploading, turns, Skips, guesses, the end."""

from __future__ import annotations

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.game import Game
from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.amigo.settings import GameSettings, NoiseSettings
from tests.evals.amigo.galleries import BUTTONS, POCKETS, V, begun, dresses, end, episode, guess, reply


def test_the_gallery_comes_in_batches_and_the_last_one_ends_the_uploading() -> None:
    game = Game.of(episode(), dresses(), GameSettings())
    first = game.start()
    assert (first.images, first.uploading) == ((1, 2, 3, 4, 5), True)
    assert not first.text.endswith("End of uploading")
    assert "garment length" in first.text  # what may not be asked about stands in the rules
    last = game.hear("I see.")
    assert (getattr(last, "images", None), getattr(last, "uploading", None)) == ((6, 7), False)
    assert getattr(last, "text", "").endswith("End of uploading")


@pytest.mark.parametrize(("told", "count"), [(False, 0), (True, 1)])
def test_the_number_of_turns_is_told_only_when_asked_for(told: bool, count: int) -> None:
    game = Game.of(episode(), dresses(), GameSettings(tell_budget=told))
    assert game.start().text.count("20 turns") == count


@pytest.mark.parametrize(
    ("text", "heard", "premature"),
    [
        ("I see.", "acknowledgement", False),
        ("End of uploading", "echo", False),
        (V, "premature_question", True),
        (guess(1), "premature_guess", True),
    ],
)
def test_what_comes_before_the_end_of_uploading_is_recorded_and_not_answered(
    text: str, heard: str, premature: bool
) -> None:
    game = Game.of(episode(), dresses(), GameSettings())
    game.start()
    assert "End of uploading" in reply(game, text)
    [upload] = game.record.uploads
    assert (upload.heard, upload.premature, game.record.turns) == (heard, premature, [])


def test_one_image_that_fits_all_answers_makes_a_right_guess_verified() -> None:
    game = begun("1")
    assert [reply(game, V), reply(game, BUTTONS)] == ["Yes", "Yes"]
    assert [(t.before, t.after) for t in game.record.turns] == [
        ([1, 2, 3, 4, 5, 6, 7], [1, 2, 3]), ([1, 2, 3], [1])
    ]  # fmt: skip
    assert end(game, guess(1)).outcome == "verified"


def test_a_right_guess_among_several_images_is_random_and_early() -> None:
    game = begun("1")
    reply(game, V)
    over = end(game, guess(1))
    assert (over.outcome, over.early, over.feasible) == ("random_guess", True, [1, 2, 3])


def test_a_right_guess_against_the_answers_is_contradicted() -> None:
    game = begun("1", GameSettings(noise=NoiseSettings(kind="flip", within=1)))
    assert reply(game, V) == "No"
    over = end(game, guess(1))
    assert (over.outcome, over.feasible) == ("contradicted", [4, 5, 6, 7])


def test_a_wrong_guess_is_incorrect_and_so_is_a_number_that_is_not_there() -> None:
    assert end(begun("1"), guess(2)).outcome == "incorrect"
    assert end(begun("1"), guess(99)).outcome == "incorrect"


def test_skips_count_and_tell_nothing() -> None:
    game = begun("1", GameSettings(turns=3))
    assert [reply(game, text) for text in (V, "Is it red?", "Is the neckline square?")] == [
        "Yes",
        "Skip",
        "Skip",
    ]
    assert [turn.after for turn in game.record.turns] == [[1, 2, 3]] * 3
    assert end(game, BUTTONS).outcome == "no_guess"


def test_after_the_last_answer_a_guess_still_counts_unless_the_settings_say_no() -> None:
    game = begun("1", GameSettings(turns=1))
    reply(game, V)
    assert end(game, guess(1)).outcome == "random_guess"
    closed = begun("1", GameSettings(turns=1, guess_after_budget=False))
    assert end(closed, V).outcome == "no_guess"


def test_unsure_eliminates_nothing() -> None:
    game = begun("1")
    assert reply(game, "Is it made of velvet?") == "Unsure"
    assert game.record.turns[0].after == [1, 2, 3, 4, 5, 6, 7]


def test_a_negated_question_is_answered_as_it_is_asked() -> None:
    game = begun("1")
    assert reply(game, "Is it without pockets?") == "Yes"
    assert game.record.turns[0].after == [1, 3, 5]


def test_the_flip_has_a_seeded_place_which_is_recorded() -> None:
    noise = NoiseSettings(kind="flip", within=3, seed=4)
    games = [begun("1", GameSettings(noise=noise)) for _ in range(2)]
    for game in games:
        for text in (V, BUTTONS, POCKETS):
            reply(game, text)
    flipped = [[(t.turn, t.reply, t.noise.true) for t in game.record.turns if t.noise] for game in games]
    assert flipped[0] == flipped[1]
    [(turn, said, true)] = flipped[0]
    assert {said, true} == {"Yes", "No"}
    assert 1 <= turn <= 3


def test_an_unsure_can_be_perturbed() -> None:
    game = begun("1", GameSettings(noise=NoiseSettings(kind="unsure")))
    assert reply(game, "Is it made of velvet?") in ("Yes", "No")
    noise = game.record.turns[0].noise
    assert noise is not None
    assert (noise.kind, noise.true) == ("unsure", "Unsure")


def test_after_a_contradiction_a_question_may_be_asked_again_and_its_later_answer_counts() -> None:
    game = begun("6", GameSettings(noise=NoiseSettings(kind="flip", within=1)))
    asked = ["Is the neckline round?", "Does it have a wrap front?", "Does it have patch pockets?"]
    assert [reply(game, text) for text in asked] == ["No", "Yes", "Yes"]
    assert game.record.turns[2].contradiction
    assert reply(game, "Does it have buttons?") == "Skip"
    assert reply(game, asked[0]) == "Yes"
    last = game.record.turns[-1]
    assert (last.recheck, last.after) == (True, [6])
    assert end(game, guess(6)).outcome == "verified"


def test_without_a_contradiction_or_the_setting_nothing_may_be_asked_again() -> None:
    game = begun("1")
    assert [reply(game, V), reply(game, V)] == ["Yes", "Skip"]


def test_a_game_goes_on_from_its_record() -> None:
    game = begun("1")
    reply(game, V)
    saved = game.record.model_dump_json()
    again = Game.of(episode("1"), dresses(), GameSettings(), record=GameRecord.model_validate_json(saved))
    reply(again, BUTTONS)
    assert end(again, guess(1)).outcome == "verified"
    with pytest.raises(UsageError, match="is over"):
        again.hear(V)
    with pytest.raises(UsageError, match="not of 'dress-2'"):
        Game.of(episode("2"), dresses(), GameSettings(), record=again.record)


def test_the_worth_of_a_question_stands_beside_that_of_the_best() -> None:
    game = begun("1")
    reply(game, "Does it have welt pockets?")
    turn = game.record.turns[0]
    assert turn.gain == pytest.approx(0.5917, abs=1e-4)  # one of seven
    assert turn.best_gain == pytest.approx(0.9852, abs=1e-4)  # three of seven
