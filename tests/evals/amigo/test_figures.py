"""The figures of sets of games, by hand and over a thousand simulated ones; trajectories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldmark.evals.amigo.compliance import compliance
from fieldmark.evals.amigo.episode import Episode, ImageSet, load_episodes, load_images
from fieldmark.evals.amigo.generating import GeneratorSettings, generate
from fieldmark.evals.amigo.players import InformationAsker, RandomAsker
from fieldmark.evals.amigo.process import process
from fieldmark.evals.amigo.robustness import Robustness, robustness
from fieldmark.evals.amigo.rows import GameRecord
from fieldmark.evals.amigo.scores import accuracy, rounds
from fieldmark.evals.amigo.settings import GameSettings, NoiseSettings
from fieldmark.evals.amigo.simulation import simulate
from fieldmark.evals.amigo.summary import figures
from fieldmark.evals.amigo.tables import tables
from fieldmark.evals.amigo.trajectories import export
from tests.evals.amigo.galleries import BUTTONS, POCKETS, V, begun, end, guess, reply

GARMENTS = Path(__file__).parents[3] / "evals/benchmarks/amigo_garments"
FLIP = NoiseSettings(kind="flip")


@pytest.fixture(scope="module")
def garments() -> ImageSet:
    return load_images(GARMENTS)


@pytest.fixture(scope="module")
def episodes(garments: ImageSet) -> list[Episode]:
    """A thousand and more, with other galleries for each seed."""
    taus = (0.3, 0.4, 0.5, 0.6)
    seeds = [GeneratorSettings(seed=seed, most=20) for seed in range(3)]
    made = [each for one in seeds for tau in taus for each in generate(garments, tau, one)]
    assert len(made) >= 1000
    return made


def played(target: str, *texts: str) -> GameRecord:
    game = begun(target, GameSettings(turns=4))
    for text in texts[:-1]:
        reply(game, text)
    end(game, texts[-1])
    return game.record


@pytest.fixture
def four() -> list[GameRecord]:
    return [
        played("1", V, "Is it red?", BUTTONS, guess(1)),  # verified, after one Skip
        played("1", V, guess(1)),  # random
        played("1", V, "Is it made of velvet?", "Is it made of satin?", guess(2)),  # incorrect
        played("1", V, "Is it red?", "Is it the first?", "Is it long?", POCKETS),  # no guess
    ]


def test_accuracy_is_the_sum_of_its_kinds_beside_chance(four: list[GameRecord]) -> None:
    found = accuracy(four)
    parts = [found.verified, found.random_guess, found.contradicted, found.incorrect, found.no_guess]
    assert [each.share.count for each in parts] == [1, 1, 0, 1, 1]
    assert found.overall.share.count == 2
    assert found.chance == pytest.approx(1 / 7)
    assert found.verified.interval is not None


def test_rounds_count_skips(four: list[GameRecord]) -> None:
    means = {name: each.mean for name, each in rounds(four).items()}
    assert means == {
        "verified": 3, "random_guess": 1, "contradicted": None, "incorrect": 3, "no_guess": 4, "all": 2.75
    }  # fmt: skip


def test_skips_by_rule_and_outcome_and_early_guesses(four: list[GameRecord]) -> None:
    found = compliance(four)
    counts = {kind: share.count for kind, share in found.by_rule.items()}
    assert counts == {"prohibited_attribute": 3, "image_index": 1, "repeated_type": 1}
    assert found.skips.mean == pytest.approx((1 / 3 + 0 + 1 / 3 + 3 / 4) / 4)
    assert found.by_outcome["random_guess"].mean == 0
    assert (found.early.share.count, found.early.share.n) == (2, 3)


def test_process_tells_stalls_and_needless_questions(four: list[GameRecord]) -> None:
    found = process(four)
    assert (found.turns, found.stalls.count, found.redundant.count) == (6, 1, 1)
    assert found.gain is not None
    assert found.best_gain is not None
    assert found.gain <= found.best_gain


def test_without_noise_no_game_of_a_thousand_is_contradicted(
    garments: ImageSet, episodes: list[Episode]
) -> None:
    records = simulate(episodes, garments, RandomAsker, GameSettings())
    assert accuracy(records).n == len(episodes) >= 1000
    assert accuracy(records).contradicted.share.count == 0
    assert not any(turn.contradiction for record in records for turn in record.turns)


def test_information_gain_finds_every_target_in_fewer_turns_than_chance(
    garments: ImageSet, episodes: list[Episode]
) -> None:
    some = episodes[::9]
    informed = simulate(some, garments, InformationAsker, GameSettings())
    by_chance = simulate(some, garments, RandomAsker, GameSettings())
    best, other = accuracy(informed).verified.share, accuracy(by_chance).verified.share
    assert best.fraction is not None
    assert other.fraction is not None
    assert best.fraction > other.fraction
    few, many = rounds(informed)["all"].mean, rounds(by_chance)["all"].mean
    assert few is not None
    assert many is not None
    assert few < many
    assert process(informed).redundant.count == 0


def test_under_noise_answers_contradict_and_asking_again_mends_it(
    garments: ImageSet, episodes: list[Episode]
) -> None:
    def played(some: list[Episode], recheck: bool) -> Robustness:
        settings = GameSettings(noise=FLIP, recheck=recheck)
        return robustness(simulate(some, garments, RandomAsker, settings))

    may, may_not = played(episodes[::9], True), played(episodes[::4], False)
    assert may.contradictions.share.count > 0
    assert may_not.accuracy.contradicted.share.count > 0
    assert may_not.followed["verified"].count == may_not.resolved.count == 0
    assert may.followed["verified"].count > 0
    assert sum(share.count for share in may.followed.values()) == may.contradictions.share.count


def test_the_same_seed_plays_the_same_games(garments: ImageSet, episodes: list[Episode]) -> None:
    one, other = (simulate(episodes[:20], garments, RandomAsker, GameSettings(noise=FLIP)) for _ in range(2))
    assert one == other


def test_the_tables_have_a_row_for_each_tau_and_one_for_all(garments: ImageSet) -> None:
    bundled = load_episodes(GARMENTS / "episodes.jsonl", garments)[::6]
    made = tables(figures(simulate(bundled, garments, InformationAsker, GameSettings(noise=FLIP))))
    assert [table.title for table in made][-2:] == ["Under noise", "After a contradiction"]
    assert all([row[0] for row in table.rows] == ["0.3", "0.4", "0.5", "0.6", "0.8", "all"] for table in made)


def test_trajectories_are_transitions_with_their_reward_terms(tmp_path: Path, four: list[GameRecord]) -> None:
    assert export(tmp_path / "steps.jsonl", four[:1]) == 5
    steps = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text().splitlines()]
    upload, first, skipped, second, last = steps
    assert (upload["state"]["phase"], upload["reward"]) == ("uploading", {"premature": -0.0})
    assert first["observation"] == "Yes"
    assert skipped["reward"] == {"skip": -1.0, "progress": 0.0, "gain": 0.0}
    assert second["state"]["feasible"] == [1, 2, 3]
    assert [each["question"] for each in second["state"]["dialogue"]] == [V, "Is it red?"]
    assert (last["done"], last["reward"]) == (True, {"correct": 1.0, "verified": 1.0})
