"""The figures of the Fine-R1 paper beside a run: in its world, and what is not alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.comparison.papers import beside_paper
from fieldmark.evals.comparison.published_macro import MacroBeside, published_macro
from fieldmark.evals.report.published_table import published_table
from fieldmark.task import Gold

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_the_mean_of_seen_and_unseen_is_what_the_paper_prints() -> None:
    for system in published_macro().systems:
        for parts in (system.closed, system.open):
            assert (parts["seen"] + parts["unseen"]) / 2 == pytest.approx(parts["both"], abs=0.0051)


def test_a_run_stands_beside_the_figures_of_its_world(build_run: BuildRun) -> None:
    built = build_run("ours", benchmark={"name": "fine-r1", "data": {"options": "shuffled"}})
    for task, said in (("t1", "<answer>rose</answer>"), ("t2", "rose")):
        gold = Gold(answer="rose", kind="flower", options=["bellcap", "rose"])
        built.task(task, split="seen", top="flower", gold=gold)
        built.episode(task, verdict="correct").answer("rose").event(
            "sandbox", "answer", text="rose", raw=said, evidence=[]
        )
    told = beside_paper([built.finish()])
    assert isinstance(told, MacroBeside)
    assert [(row.name, row.world) for row in told.rows] == [("ours", "closed"), ("Fine-R1-7B", "closed")]
    assert told.rows[0].parts == {"seen": 0.5, "unseen": None, "both": None}
    rows = published_table(told).rows
    assert rows[0] == ["ours: ours", "closed", "closed-official", "50.00", "–", "–"]
    assert rows[1][3:] == ["91.71", "85.70", "88.71"]
    assert "ours: not --protocol fine-r1" in told.warnings
    assert any("shuffled" in line for line in told.warnings)
    assert any("seen is without aircraft" in line for line in told.warnings)
