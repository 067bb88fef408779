"""Accuracy by mid category, source and language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.accuracy_tables import group_tables

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_a_table_for_each_label_with_more_than_one_value(build_run: BuildRun) -> None:
    run = build_run()
    for number in range(6):
        mid = "Aircraft" if number < 4 else "Ship"
        run.task(f"t{number}", split="ab"[number % 2], mid=mid, source="one")
        run.episode(f"t{number}", verdict="correct" if number in (0, 1, 4) else "incorrect")
    [mid_table] = group_tables(summarise(run.finish()))
    assert mid_table.title == "Accuracy by mid"
    rows = [[row[0], *row[1:4]] for row in mid_table.rows]
    assert rows == [
        ["Aircraft", "4", "2/4", "50.0"],
        ["Ship", "2", "1/2", "50.0"],
        ["all (micro)", "6", "3/6", "50.0"],
        ["all (macro)", "2 of 2 groups", "–", "50.0"],
    ]


def test_a_task_without_the_label_is_kept_and_a_partial_run_says_so(build_run: BuildRun) -> None:
    run = build_run().task("a", language="zh").task("b", language="").task("c", language="zh")
    run.episode("a", verdict="correct")
    run.episode("b", verdict="incorrect")
    [table] = group_tables(summarise(run.finish()))
    assert table.title == "Accuracy by language · PARTIAL"
    assert [row[:3] for row in table.rows[:3]] == [
        ["(none)", "1", "0/1"],
        ["zh", "2", "1/1"],
        ["all (micro)", "3", "1/2"],
    ]
    assert table.rows[3][3:] == ["50.0", "–", "–", "50.0"]  # one task in a group: no interval of the mean


def test_each_facet_has_a_table_too(build_run: BuildRun) -> None:
    run = build_run()
    for number, facets in enumerate([{"perception": "ocr"}, {"perception": "counting"}, {}]):
        run.task(f"t{number}", facets=facets)
        run.episode(f"t{number}", verdict="incorrect" if number else "correct")
    [table] = group_tables(summarise(run.finish()))
    assert table.title == "Accuracy by perception"
    assert {row[0]: row[2] for row in table.rows[:3]} == {"ocr": "1/1", "counting": "0/1", "(none)": "0/1"}
