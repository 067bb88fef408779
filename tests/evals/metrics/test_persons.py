"""The human baseline, on the numbers of Pix2Fact's table 4: its runs made anew, its figures counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.metrics.persons import baseline
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

PERSONS = {1: {"e1": 26, "e2": 18, "e3": 21}, 2: {"e4": 22, "e5": 20, "e6": 30}}
"""Paper → person → right answers of 50: 52, 36, 42 % and 44, 40, 60 %."""
MODEL = {1: 14, 2: 10}
"""Gemini-3-Pro with web search: 28 and 20 %."""


def answered(build_run: BuildRun, name: str, papers: dict[int, int], **config: object) -> RunDir:
    run = build_run(name, **config)
    for paper, right in papers.items():
        for number in range(50):
            task = f"p{paper}-{number}"
            run.task(task)
            run.episode(task, verdict="correct" if number < right else "incorrect").answer("an answer")
    return run.finish()


@pytest.fixture
def exams(build_run: BuildRun) -> list[RunDir]:
    return [
        answered(
            build_run, name, {paper: right}, agent="person", model={"name": name},
            exam={"tasks": 50, "paper": paper, "seed": 1, "stratify": None},
        )
        for paper, persons in PERSONS.items()
        for name, right in persons.items()
    ]  # fmt: skip


def test_the_papers_56_is_the_mean_of_each_exams_best_person(
    exams: list[RunDir], build_run: BuildRun
) -> None:
    model = answered(build_run, "gemini", MODEL, agent="closed_book")
    found = baseline([*exams, model])
    assert found
    shares = [[person.strict.fraction for person in exam.persons] for exam in found.exams]
    assert shares == [[0.52, 0.36, 0.42], [0.44, 0.40, 0.60]]
    assert [exam.mean for exam in found.exams] == pytest.approx([0.4333, 0.48], abs=1e-4)
    assert [exam.best.who for exam in found.exams if exam.best] == ["e1", "e6"]
    assert found.best_mean == pytest.approx(0.56)
    assert found.persons_mean == pytest.approx(0.4567, abs=1e-4)
    assert found.others_mean == pytest.approx({"gemini": 0.24})
    assert not found.incomplete


def test_report_and_compare_print_it(exams: list[RunDir], build_run: BuildRun, fieldmark: Fieldmark) -> None:
    model = answered(build_run, "gemini", MODEL, agent="closed_book")
    paths = [str(run.path) for run in (exams[0], exams[5], model)]
    done = fieldmark("compare", *paths)
    table = done.stdout.partition("Human baseline")[2].partition("strict accuracy")[0]
    means = [
        line.split() for line in table.splitlines() if "mean of each" in line or "mean of gemini" in line
    ]
    assert [line[-1] for line in means] == ["56.0", "24.0"]
    told = json.loads(fieldmark("report", *paths, "--json").stdout)["persons"]
    assert (told["best_mean"], told["others_mean"]) == (pytest.approx(0.56), {"gemini": pytest.approx(0.24)})


def test_an_unjudged_exam_gives_no_mean(exams: list[RunDir]) -> None:
    exams[0].verdicts_file.unlink()
    found = baseline(exams[:2])
    assert found
    assert found.incomplete
    assert (found.exams[0].mean, found.best_mean, found.persons_mean) == (None, 0.36, None)
