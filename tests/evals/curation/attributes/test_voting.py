"""From answers to a label, or to none."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.constraint import Answer
from fieldmark.evals.amigo.lexicon import load_lexicon
from fieldmark.evals.asking.reply import NotUsed
from fieldmark.evals.curation.attributes.labels import lexicon_toml
from fieldmark.evals.curation.attributes.questions import questions
from fieldmark.evals.curation.attributes.settings import Kind, Settings, read_settings, template
from fieldmark.evals.curation.attributes.voting import Vote, decide

POCKETS = Kind(question="Which?", values={"patch": ["patch pockets"], "welt": ["welt pockets"]}, absent=True)
NECKLINE = POCKETS.model_copy(update={"absent": False})
BOTH = POCKETS.model_copy(update={"several": True})


def said(weight: float = 1, **values: Answer) -> Vote:
    """A vote on both values; one that is not named was not answered."""
    return Vote("pockets", weight, ["patch", "welt"], values)


def label(kind: Kind, *votes: Vote, keep_from: float = 0.7) -> tuple[str, list[str]]:
    found = decide("pockets", kind, votes, keep_from)
    return found.why, found.label


@pytest.mark.parametrize(
    ("kind", "patch", "welt", "expected"),
    [
        (POCKETS, "Yes", "No", ("clear", ["patch"])),
        (POCKETS, "No", "No", ("clear", ["none"])),
        (NECKLINE, "No", "No", ("no value", [])),
        (POCKETS, "Yes", "Yes", ("conflict", [])),
        (BOTH, "Yes", "Yes", ("clear", ["patch", "welt"])),
        (POCKETS, "Yes", "Unsure", ("doubt", [])),
    ],
)
def test_a_type_is_labelled_only_where_all_its_values_are_settled(
    kind: Kind, patch: Answer, welt: Answer, expected: tuple[str, list[str]]
) -> None:
    assert label(kind, said(patch=patch, welt=welt)) == expected


def test_weights_decide_and_what_is_between_is_no_label() -> None:
    heavy, light = said(3, patch="Yes", welt="No"), said(1, patch="No", welt="No")
    assert label(POCKETS, heavy, light) == ("clear", ["patch"])
    assert label(POCKETS, heavy, light, light) == ("doubt", [])


def test_an_answer_that_is_missing_counts_for_neither_side() -> None:
    assert label(POCKETS, said(patch="No", welt="No"), said()) == ("doubt", [])


def test_yes_no_answers_and_the_answer_to_the_types_own_question_are_counted_together() -> None:
    own = said(2, patch="No", welt="Yes")
    templates = [
        Vote("pockets", 1, ["patch"], {"patch": "Yes"}),
        Vote("pockets", 1, ["welt"], {"welt": "Yes"}),
    ]
    found = decide("pockets", POCKETS, [own, *templates], 0.6)
    assert found.shares["patch"].no == pytest.approx(2 / 3, abs=1e-6)
    assert found.shares["welt"].yes == 1
    assert found.label == ["welt"]


def bundled(tmp_path: Path) -> Settings:
    (tmp_path / "attributes.toml").write_text(template())
    return read_settings(tmp_path / "attributes.toml")


def test_replies_are_read_by_what_was_asked(tmp_path: Path) -> None:
    own, first, *_ = (each for each in questions(bundled(tmp_path)) if each.type == "pockets")
    assert own.read('{"answer": ["welt"]}') == {"patch": "No", "welt": "Yes"}
    assert own.read('{"answer": "none"}') == {"patch": "No", "welt": "No"}
    assert own.read('{"answer": "Unsure"}') == {"patch": "Unsure", "welt": "Unsure"}
    assert first.inputs == {"question": "Does this garment have patch pockets?"}
    assert first.read('Well. {"answer": "Yes"}') == {"patch": "Yes"}
    for wrong in (
        '{"answer": ["none", "welt"]}',
        '{"answer": ["huge"]}',
        '{"answer": []}',
        '{"answer": 3}',
        '{"answer": ["patch"]} or {"answer": ["welt"]}',
        "Yes",
    ):
        with pytest.raises(NotUsed):
            own.read(wrong)


def test_the_words_that_are_asked_with_are_those_of_the_game(tmp_path: Path) -> None:
    settings = bundled(tmp_path)
    (tmp_path / "lexicon.toml").write_text(lexicon_toml(settings))
    lexicon = load_lexicon(tmp_path / "lexicon.toml")
    for each in questions(settings):
        if each.value and not settings.types[each.type].prohibited:
            asked = lexicon.constraint(each.inputs["question"])
            assert asked is not None
            assert (asked.type, asked.values) == (each.type, (each.value,))
    assert lexicon.mentions("Does it have stripes?")[0].prohibited


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{value}?", "it?", "templates.0.text: .*must hold {value}"),
        ("patch = [", "none = [", "types.pockets.values: .*no value can be called 'none'"),
        ('noun = "garment"', "", "noun"),
        ("taus = [0.3,", "taus = [0.33, 0.3,", "episodes.taus: .*differ by a tenth"),
        ("keep_from = 0.7", "keep_from = 0.5", "keep_from"),
    ],
)
def test_a_fault_of_the_file_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "attributes.toml").write_text(template().replace(old, new))
    with pytest.raises(UsageError, match=told):
        read_settings(tmp_path / "attributes.toml")
