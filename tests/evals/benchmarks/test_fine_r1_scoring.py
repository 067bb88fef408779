"""Each way of scoring on answers that were made to fool it."""

from __future__ import annotations

import itertools

import pytest

from fieldmark.evals.benchmarks.fine_r1.items import passes_by_accident, shuffled
from fieldmark.evals.benchmarks.fine_r1.scoring import SCORES, Variant, stem, tagged
from fieldmark.evals.benchmarks.fine_r1.similarity import relative, relative_similarity, super_category
from fieldmark.evals.judges.base import Given
from fieldmark.task import Gold

OPTIONS = ["petunia", "mexican petunia", "rose", "pink primrose"]


def reply(answer: str) -> Given:
    """As the reader of tags makes it."""
    return Given(answer, f"<think>{' '.join(OPTIONS)}</think><answer>{answer}</answer>")


def bare(text: str) -> Given:
    """An output without tags."""
    return Given(text, text)


def right(given: Given, answer: str, kind: str = "flower") -> dict[Variant, bool]:
    return {name: score(given, Gold(answer=answer, kind=kind)) for name, score in SCORES.items()}


@pytest.mark.parametrize(
    ("said", "gold"),
    [("mexican petunia", "petunia"), ("border collie", "collie"), ("pink primrose", "rose")],
)
def test_another_class_that_holds_the_name_passes_officially_and_not_strictly(said: str, gold: str) -> None:
    found = right(reply(said), gold)
    assert found["closed-official"]
    assert found["text-inclusion"]
    assert not found["closed-strict"]
    assert not found["open-strict"]
    assert passes_by_accident(gold, [gold, said])
    assert not passes_by_accident(said, [gold, said])


def test_the_name_itself_passes_everywhere() -> None:
    assert all(right(reply("petunia"), "petunia").values())
    found = right(reply("Mexican_Petunia."), "mexican petunia")
    assert found == {
        "closed-official": True, "closed-strict": True, "card": True,  # of its thinking
        "text-inclusion": False, "open-strict": True,  # inclusion leaves the underscores of the output
    }  # fmt: skip


def test_an_echo_of_all_options_passes_officially_and_not_strictly() -> None:
    found = right(reply(", ".join(OPTIONS)), "rose")
    assert (found["closed-official"], found["closed-strict"], found["open-strict"]) == (True, False, False)


def test_without_tags_closed_official_is_wrong_and_inclusion_reads_the_whole_output() -> None:
    found = right(bare("I think that it is a petunia"), "petunia")
    assert found["closed-official"] is False
    assert found["text-inclusion"] is True
    assert found["closed-strict"] is False
    assert right(bare("petunia"), "petunia")["closed-strict"] is True
    assert right(Given("", "<answer> </answer> rose"), "rose")["closed-official"] is False


def test_tags_reach_from_the_first_to_the_last() -> None:
    assert tagged("<answer>a</answer> or <answer>b</answer>") == "a</answer> or <answer>b"
    assert tagged("<answer>a") is None


def test_the_cards_score_knows_no_tags_and_no_case() -> None:
    assert right(Given("rose", "<think>no petunia</think><answer>rose</answer>"), "petunia")["card"]
    assert not right(Given("Petunia", "<answer>Petunia</answer>"), "petunia")["card"]


def test_inclusion_goes_one_way() -> None:
    assert not right(bare("Boeing 737"), "Boeing 737-200", "aircraft")["text-inclusion"]
    found = right(bare("Boeing 737-200"), "Boeing 737", "aircraft")
    assert (found["text-inclusion"], found["open-strict"]) == (True, False)


def cars() -> list[Gold]:
    """196 classes of 174 models: 22 models come in two bodies."""
    models = [f"Vexa Torq {number}" for number in range(174)]
    bodies = [(model, body) for model in models for body in ("Coupe", "Sedan")]
    kept = [pair for pair in bodies if pair[1] == "Coupe" or models.index(pair[0]) < 22]
    return [Gold(answer=f"{model} {body} 2012", kind="car") for model, body in kept]


def test_cars_lose_body_and_year_so_that_196_classes_are_174_stems() -> None:
    classes = cars()
    assert (len(classes), len({stem(gold) for gold in classes})) == (196, 174)
    coupe, sedan = classes[0], classes[1]
    said = bare("a Vexa Torq 0 of 2009")
    assert SCORES["text-inclusion"](said, coupe)
    assert SCORES["text-inclusion"](said, sedan)
    assert not SCORES["open-strict"](said, coupe)
    assert SCORES["open-strict"](bare("Vexa Torq 0"), coupe)
    assert not SCORES["text-inclusion"](said, Gold(answer="Vexa Torq 0 Coupe 2012", kind="aircraft"))


def test_a_car_of_two_words_is_not_in_everything() -> None:
    assert stem(Gold(answer="Vexa 2012", kind="car")) == "vexa 2012"


def test_always_the_first_scores_all_in_the_official_order_and_a_quarter_shuffled() -> None:
    score = SCORES["closed-strict"]
    for order, low, high in (("official", 1.0, 1.0), ("shuffled", 0.23, 0.27)):
        hits = []
        for number in range(4000):
            options = [f"class {number} {letter}" for letter in "abcd"]
            offered = options if order == "official" else shuffled(options, f"dog-seen-{number:05d}", 0)
            hits.append(score(reply(offered[0]), Gold(answer=options[0], options=offered)))
        assert low <= sum(hits) / len(hits) <= high


class Letters:
    """A similarity that is plain to see: the shared letters of two texts over all of theirs."""

    def similarity(self, one: str, other: str) -> float:
        return len(set(one) & set(other)) / len(set(one) | set(other))


@pytest.mark.parametrize(
    ("near", "base", "score"),
    [(1.0, 0.5, 1.0), (0.75, 0.5, 0.5), (0.25, 0.5, 0.0), (1.0, 1.0, 0.0), (1.0, 1.0000001, 0.0)],
)
def test_relative_similarity_is_measured_from_the_super_category(
    near: float, base: float, score: float
) -> None:
    assert relative(near, base) == pytest.approx(score)


def test_a_reference_that_is_its_super_category_has_no_denominator() -> None:
    assert relative_similarity(bare("car"), Gold(answer="car", kind="car"), Letters(), "ours") == 0.0
    assert relative_similarity(bare(""), Gold(answer="rose", kind="flower"), Letters(), "ours") == 0.0
    assert relative_similarity(reply("rose"), Gold(answer="rose", kind="flower"), Letters(), "ours") == 1.0


def test_the_official_rule_calls_birds_dogs_and_pets_objects() -> None:
    kinds = ("aircraft", "bird", "car", "dog", "flower", "pet")
    official, ours = ([super_category(kind, rule) for kind in kinds] for rule in ("official", "ours"))
    assert official == ["aircraft", "object", "car", "object", "flower", "object"]
    assert ours == list(kinds)


def test_every_score_is_defined_for_an_empty_answer() -> None:
    for given, kind in itertools.product((Given(None), Given(""), bare(" ")), ("car", "flower")):
        assert not any(right(given, "Vexa Torq 1 Coupe 2012", kind).values())
