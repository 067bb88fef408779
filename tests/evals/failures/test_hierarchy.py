"""Ancestors and siblings, by named sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.failures.aircraft_types import aircraft_types
from fieldmark.evals.failures.hierarchy import Relation, relation, shares_words
from fieldmark.evals.failures.hierarchy_file import HierarchyFile
from fieldmark.task import Gold
from tests.evals.failures.making import AIRLINER, MANDRILL

APES = """\
name\tparent\trank\taliases
mandrill\tMandrillus\tspecies\tMandrillus sphinx
drill\tMandrillus\tspecies\t
Mandrillus\tPapionini\tgenus\t
Papio\tPapionini\tgenus\tbaboon
"""


@pytest.fixture
def apes(tmp_path: Path) -> HierarchyFile:
    return HierarchyFile(written(tmp_path, APES))


def written(folder: Path, text: str) -> Path:
    path = folder / "apes.tsv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("The drill.", "sibling"),
        ("Mandrillus", "ancestor"),
        ("papionini", "ancestor"),
        ("baboon", "unrelated"),
    ],
)
def test_a_file_of_the_user_is_named_with_its_hash(apes: HierarchyFile, answer: str, kind: str) -> None:
    assert relation(answer, MANDRILL, [apes]) == Relation(kind, apes.name)  # type: ignore[arg-type]
    assert apes.name.startswith("apes.tsv (")


def test_a_name_that_a_source_does_not_know_is_a_stranger_to_a_reference_that_it_knows(
    apes: HierarchyFile,
) -> None:
    assert relation("gibbon", MANDRILL, [apes]) == Relation("stranger", apes.name)
    assert relation("gibbon", AIRLINER, [apes]) is None
    assert relation("Mandrillus sphinx", MANDRILL, [apes]) is None


def test_the_reference_itself_is_the_first_source(apes: HierarchyFile) -> None:
    assert relation("monkey", MANDRILL, [apes]) == Relation("ancestor", "gold.broader")


def test_names_of_other_ranks_are_no_siblings(tmp_path: Path) -> None:
    mixed = HierarchyFile(
        written(tmp_path, APES.replace("drill\tMandrillus\tspecies\t\n", "drill\tMandrillus\tsubspecies\t\n"))
    )
    assert relation("drill", MANDRILL, [mixed]) == Relation("unrelated", mixed.name)


@pytest.mark.skipif(aircraft_types() is None, reason="needs the extra [aircraft]")
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Boeing 737-700", "sibling"),
        ("737 MAX 9", "sibling"),
        ("B738", "sibling"),
        ("Boeing 737-900", "sibling"),
        ("Boeing 737", "ancestor"),
        ("Boeing", "ancestor"),
        ("Boeing 747-400", "unrelated"),
        ("Airbus A320", "unrelated"),
        ("gibbon", "stranger"),
    ],
)
def test_aircraft_of_one_maker_and_number_are_siblings(answer: str, kind: str) -> None:
    types = aircraft_types()
    assert types is not None
    assert relation(answer, AIRLINER, [types]) == Relation(kind, types.name)  # type: ignore[arg-type]


@pytest.mark.skipif(aircraft_types() is None, reason="needs the extra [aircraft]")
def test_a_fruit_is_no_aircraft_of_that_name() -> None:
    types = aircraft_types()
    assert types is not None
    assert relation("fig", Gold(answer="kiwifruit", aliases=["kiwi"]), [types]) is None
    assert relation("Boeing 787-9", Gold(answer="Boeing 787-8"), [types]) == Relation("sibling", types.name)


def test_words_of_the_question_relate_nothing() -> None:
    assert shares_words("Boeing 747", AIRLINER, "Which aircraft is this?")
    assert not shares_words("Boeing 747", AIRLINER, "Which Boeing is this?")
    assert not shares_words("Saab 8", AIRLINER, "Which aircraft is this?")  # a digit is no relation


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name\trank\na\tb\n", ":1: no column parent"),
        ("", ":1: no column name and parent"),
        ("name\tparent\na\tb\nA\tc\n", ":3: 'A' is named in line 2 too"),
        ("name\tparent\na\tb\nb\tc\nc\ta\n", ":2: 'a' stands above itself"),
        ("name\tparent\na\ta\n", ":2: 'a' stands above itself"),
        ("name\tparent\n\tb\n", ":2: no name"),
        ("name\tparent\na\tb\tc\n", ":2: more cells than columns"),
    ],
)
def test_a_faulty_file_is_told_in_one_line_with_its_number(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        HierarchyFile(written(tmp_path, text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_or_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"\xff\xfe\x00")
    for path, said in ((tmp_path / "x.tsv", "not UTF-8"), (tmp_path / "y.tsv", "cannot be read")):
        with pytest.raises(UsageError, match=said):
            HierarchyFile(path)
