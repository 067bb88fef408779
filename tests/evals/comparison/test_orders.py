"""What the order of the tasks does, on runs whose verdicts are constructed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.comparison.orders import OrderEffect, Quarter, order_effect, quarters
from fieldmark.evals.comparison.paired import Side
from fieldmark.evals.comparison.study import study_comparison
from fieldmark.evals.report.study_tables import study_tables
from fieldmark.rundir import RunDir
from fieldmark.study.folder import StudyDir
from tests.evals.study_folders import record, run_in

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

TASKS = [f"t{place}" for place in range(8)]


@pytest.fixture
def study(build_run: BuildRun) -> StudyDir:
    """`off` has the first half of the tasks right, `warm` the same, and all in the second half of its way."""
    arms = {"off": {"memory": "off"}, "warm": {"memory": "inherit"}}
    runs: list[tuple[str, str, int | None]] = []
    for order in (1, 2):
        tasks = random.Random(order).sample(TASKS, len(TASKS))
        off = ["1" if task < "t4" else "0" for task in tasks]
        for arm, hits in (("off", off), ("warm", off[:4] + ["1"] * 4)):
            run_in(build_run, f"{arm}-o{order}", "".join(hits), tasks, order={"number": order, "seed": 0})
            runs.append((f"{arm}-o{order}", arm, order))
    return record(build_run, arms, runs)


def of(rows: list[Quarter], arm: str) -> list[Quarter]:
    return [row for row in rows if row.arm == arm]


def test_an_arm_is_one_side_over_all_its_orders(study: StudyDir) -> None:
    made = study_comparison(study)
    off, warm = made.arms
    assert (off.orders, off.accuracy.tasks, off.accuracy.strict.fraction) == (2, 8, 0.5)
    assert warm.accuracy.strict.fraction is not None
    assert made.comparison.versus[0].paired.difference == pytest.approx(warm.accuracy.strict.fraction - 0.5)
    assert made.detectable is not None
    assert made.detectable.epochs == 2


def test_memory_warms_up_along_the_way_and_pairing_shows_it(study: StudyDir) -> None:
    rows = study_comparison(study).quarters
    off, warm = of(rows, "off"), of(rows, "warm")
    assert [row.correct.n for row in off] == [4] * 4
    assert [row.difference for row in off] == [None] * 4
    assert [row.paired for row in warm] == [4] * 4
    assert [row.difference for row in warm[:2]] == [0.0, 0.0]
    assert [row.correct.fraction for row in warm[2:]] == [1.0, 1.0]
    late = sum(row.difference or 0 for row in warm[2:])
    assert late == pytest.approx(sum(1 - (row.correct.fraction or 0) for row in off[2:]))


def test_the_tables_of_orders_stand_in_the_report(study: StudyDir) -> None:
    tables = {table.title: table for table in study_tables(study_comparison(study))}
    assert [row[:3] for row in tables["Effect of the order"].rows] == [["off", "8", "2"], ["warm", "8", "2"]]
    assert len(tables["Along the way"].rows) == 8


def effect(build_run: BuildRun, *hits: str) -> OrderEffect | None:
    orders: dict[int | None, Side] = {}
    for order, each in enumerate(hits, 1):
        run_in(build_run, f"o{order}", each)
        orders[order] = Side(RunDir.open(build_run("elsewhere").folder.path.parent / "study" / f"o{order}"))
    return order_effect("arm", orders)


def test_orders_that_repeat_each_other_have_no_effect(build_run: BuildRun) -> None:
    found = effect(build_run, "110010", "110010", "110010")
    assert found is not None
    assert (found.sd, found.unstable, found.p) == (0.0, 0, 1.0)
    assert found.accuracies == {1: 0.5, 2: 0.5, 3: 0.5}


def test_an_order_that_is_better_throughout_is_found(build_run: BuildRun) -> None:
    found = effect(build_run, "00000000", "11111111")
    assert found is not None
    assert found.unstable == 8
    assert found.p == pytest.approx(2 / 2**8)  # of the deals, two are as uneven


def test_flips_that_cancel_are_unstable_and_no_effect(build_run: BuildRun) -> None:
    found = effect(build_run, "1100", "0011")
    assert found is not None
    assert (found.unstable, found.p) == (4, 1.0)


def test_one_order_has_no_effect(build_run: BuildRun) -> None:
    assert effect(build_run, "1100") is None


def test_the_way_of_one_run_has_wilsons_intervals(build_run: BuildRun) -> None:
    run_in(build_run, "alone", "11110000")
    side = Side(RunDir.open(build_run("elsewhere").folder.path.parent / "study" / "alone"))
    rows = quarters("alone", {None: side}, None)
    assert [row.correct.count for row in rows] == [2, 2, 0, 0]
    assert rows[0].interval is not None
    assert rows[0].interval.low == pytest.approx(0.342, abs=1e-3)  # Wilson, 2 of 2


def test_each_epoch_begins_its_way_anew(build_run: BuildRun) -> None:
    run = build_run("study/warm", epochs=2)
    for place, task in enumerate(TASKS):
        run.task(task)
        for epoch in (0, 1):
            run.episode(task, epoch=epoch, verdict="correct" if place >= 6 else "incorrect")
    rows = quarters("warm", {None: Side(run.finish())}, None)
    assert [(row.correct.fraction, row.correct.n) for row in rows] == [(0, 4), (0, 4), (0, 4), (1, 4)]
