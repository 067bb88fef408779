"""Runs that were asked with the options in different orders are compared task by task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.evals.comparison.paired import Side, compare

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_the_same_options_in_another_order_are_the_same_question(build_run: BuildRun) -> None:
    sides = []
    for name, options in (
        ("official", "- rose\\n- bellcap"),
        ("shuffled", "- bellcap\\n- rose"),
        ("other", "- rose"),
    ):
        built = build_run(name)
        built.task("t1").episode("t1", verdict="correct")
        run = built.finish()
        text = run.tasks_file.read_text(encoding="utf-8").replace("What is this?", f"Which?\\n{options}")
        run.tasks_file.write_text(text, encoding="utf-8")
        sides.append(Side(run))
    assert not compare(sides[0], sides[1]).unpaired
    assert compare(sides[0], sides[2]).unpaired[0].ids == ["t1"]
