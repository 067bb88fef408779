"""Credit by level, abstentions, and wrong answers that hold the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.metrics.abstention import abstains
from fieldmark.evals.metrics.levels import HIERARCHY, holds_reference
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.levels_table import levels_table
from fieldmark.task import Gold

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


@pytest.mark.parametrize(
    "answer",
    ["unknown", "Unknown.", "The answer is: Unknown", "**Cannot determine**", "I don't know.", "I don’t know",
     "n/a", "无法确定", "答案：不知道。", "无法判断"],
)  # fmt: skip
def test_a_phrase_of_the_list_is_an_abstention(answer: str) -> None:
    assert abstains(answer)


@pytest.mark.parametrize(
    "answer",
    ["Unknown warbler", "cannot determine the variant, Boeing 737", "Not known to me: Saab 340", "未知鸟类",
     "None of them", "", None],
)  # fmt: skip
def test_an_answer_that_names_something_or_nothing_is_none(answer: str | None) -> None:
    assert not abstains(answer)


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Boeing 737-800 of Ryanair, built 1927", True),
        ("a Boeing 738 in blue", True),
        ("Boeing 737-800", False),  # nothing beside it
        ("Boeing 737-8001", False),  # another number
        ("not a Boeing 737-800", False),
        ("Boeing 737-800 or 737-900", False),
        ("Airbus A320", False),
        (None, False),
    ],
)
def test_words_of_the_reference_and_more(answer: str | None, holds: bool) -> None:
    assert holds_reference(answer, Gold(answer="Boeing 737-800", aliases=["Boeing 738"])) is holds


def test_a_literal_text_is_left_out() -> None:
    assert not holds_reference("EI-DPB on the tail", Gold(answer="EI-DPB", match="exact_text"))


def test_every_episode_that_is_done_stands_at_one_level(build_run: BuildRun) -> None:
    deep = Gold(answer="Saab 340", broader=["Saab"])
    run = build_run()
    for name, verdict, answer in (
        ("exact", "correct", "Saab 340"), ("finer", "correct", "Saab 340B"),
        ("broader", "partially_correct", "a Saab"), ("over", "incorrect", "Saab 340 from Malta"),
        ("wrong", "incorrect", "Fokker 50"), ("gave up", "incorrect", "Cannot determine"),
        ("unclear", "uncertain", "that one"),
    ):  # fmt: skip
        run.task(name, gold=deep if name != "wrong" else Gold(answer="Dornier 328"))
        run.episode(name, verdict=verdict, finer=name == "finer").answer(answer)  # type: ignore[arg-type]
    run.task("late").episode("late", status="timeout")
    run.task("broken").episode("broken", status="sandbox_error")
    rows = {row[0]: row[1:] for row in levels_table(summarise(run.finish())).rows}
    #      done exact finer  of 8    of 8  gave up wrong holds unclear none
    assert rows["all"] == ["8", "1", "1", "25.0", "37.5", "1", "2", "1/2", "1", "1"]
    assert rows[HIERARCHY] == ["6", "1", "1", "33.3", "50.0", "1", "1", "1/1", "1", "0"]


def test_without_gold_nothing_is_said_of_what_only_gold_tells(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a", verdict="incorrect")
    folder = run.finish()
    folder.gold_file.unlink()
    assert levels_table(summarise(folder)).rows[-1] == [
        "all", "1", "0", "0", "0.0", "0.0", "0", "1", "–", "0", "0"
    ]  # fmt: skip
