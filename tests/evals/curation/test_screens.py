"""The screens as rules: the paper's funnel from constructed verdicts, and what a changed threshold does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from fieldmark.evals.curation.deciding import Said, decide_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate, Step
from fieldmark.evals.curation.screens import first, hard, sample
from fieldmark.evals.curation.settings import FirstScreen, HardScreen


def said(found: Iterable[Said]) -> dict[str, str]:
    return {each.candidate: each.verdict for each in found}


def class_of(name: str, labels: str) -> dict[str, str]:
    """`class_of("heron", "++-")`: verdicts of heron-0, -1, -2: right, right, wrong; `?` is in doubt."""
    kinds = {"+": "correct", "-": "incorrect", "~": "partially_correct", "?": "uncertain"}
    return {f"{name}-{number}": kinds[label] for number, label in enumerate(labels)}


def classes(*verdicts: dict[str, str]) -> dict[str, str]:
    return {name: name.rpartition("-")[0] for each in verdicts for name in each}


def test_first_keeps_a_hard_class_whole_also_what_was_not_asked() -> None:
    answers = class_of("heron", "+---") | class_of("egret", "+++-")
    all_of_them = classes(answers) | {"heron-9": "heron", "egret-9": "egret"}
    told = said(first(all_of_them, answers, FirstScreen(images=4, keep_below=0.5)))
    assert {name for name, verdict in told.items() if verdict == "keep"} == {
        "heron-0", "heron-1", "heron-2", "heron-3", "heron-9",
    }  # fmt: skip
    assert sample(all_of_them, 2) == ["egret-0", "egret-1", "heron-0", "heron-1"]


def test_what_is_in_doubt_counts_as_known_and_what_is_missing_stays_open() -> None:
    doubt, clear = class_of("heron", "??--"), class_of("egret", "----")
    told = said(first(classes(doubt, clear), doubt | clear, FirstScreen(images=4, keep_below=0.5)))
    assert (told["heron-0"], told["egret-0"]) == ("drop", "keep")
    del clear["egret-2"]
    told = said(first(classes(doubt, class_of("egret", "----")), doubt | clear, FirstScreen(images=4)))
    assert told["egret-0"] == "open"


@pytest.mark.parametrize(
    ("class_rule", "sample_rule", "kept"),
    [
        ("all", "all", ["a-2", "a-3"]),
        ("all", "any", ["a-1", "a-2", "a-3"]),
        ("any", "all", ["a-2", "a-3", "b-3"]),
    ],
)
def test_hard_by_any_or_by_all(class_rule: str, sample_rule: str, kept: list[str]) -> None:
    one = class_of("a", "+---") | class_of("b", "+---")
    two = class_of("a", "++~-") | class_of("b", "+++-")
    settings = HardScreen.model_validate({"keep_below": 0.6, "classes": class_rule, "samples": sample_rule})
    told = said(hard(classes(one), {"one": one, "two": two}, settings))
    assert [name for name, verdict in told.items() if verdict == "keep"] == kept


def test_a_sample_that_one_model_leaves_in_doubt_is_not_kept() -> None:
    one, two = class_of("a", "----"), class_of("a", "?---")
    told = said(hard(classes(one), {"one": one, "two": two}, HardScreen()))
    assert Counter(told.values()) == {"keep": 3, "open": 1}


def test_the_papers_funnel(tmp_path: Path) -> None:
    """9,110 of 911 classes → 2,820 of 282 → 435 of 52 → 353 → 97: each step from its own verdicts."""
    project = Project.create(tmp_path / "set")
    with project.writing():
        for number in range(9110):
            name = f"class-{number % 911:03}"
            sha256 = f"{number:016x}{0:048x}"
            project.add(Candidate(sha256[:16], sha256, f"pictures/{number}.jpg", name, name, "s", "CC0-1.0"))
    everything = {each.id: each.class_name for each in project.candidates()}
    decide_all(project, "import", (Said(name, "keep", "usable", {}) for name in everything))

    known = {name: "incorrect" if each < "class-282" else "correct" for name, each in everything.items()}
    decide_all(project, "screen.first", first(everything, known, FirstScreen(images=10)))
    left = {each.id: each.class_name for each in project.candidates(after="screen.first")}

    # 52 classes with three right at most: 435 of their 520 are wrong, by both models
    right = {name for name, each in left.items() if each >= "class-052"}
    hard_ones = [name for name, each in left.items() if each < "class-052"]
    right |= set(hard_ones[:85])
    answers = {name: "correct" if name in right else "incorrect" for name in left}
    decide_all(project, "screen.hard", hard(left, {"one": answers, "two": answers}, HardScreen()))

    steps: list[tuple[Step, Step, int]] = [
        ("screen.hard", "leakage", 353), ("leakage", "audit", 353), ("audit", "evidence", 97),
    ]  # fmt: skip
    for before, step, kept in steps:
        names = [each.id for each in project.candidates(after=before)]
        decide_all(
            project,
            step,
            (Said(name, "keep" if n < kept else "drop", "", {}) for n, name in enumerate(names)),
        )
    told = {each.step: (each.keep, each.classes) for each in project.funnel()}
    assert told["import"] == (9110, 911)
    assert told["screen.first"] == (2820, 282)
    assert told["screen.hard"] == (435, 52)
    assert (told["leakage"][0], told["audit"][0], told["evidence"][0]) == (353, 353, 97)

    # a threshold that reaches one class more decides only that, and says so
    known |= dict.fromkeys(
        [name for name, each in everything.items() if each == "class-300"][:6], "incorrect"
    )
    untouched = len(project.history(next(iter(everything))))
    again = decide_all(
        project, "screen.first", first(everything, known, FirstScreen(images=10, keep_below=0.5))
    )
    assert {(flip[1], flip[2]) for flip in again.flips} == {("drop", "keep")}
    assert len(again.flips) == 10
    assert len(project.history(next(iter(everything)))) == untouched
