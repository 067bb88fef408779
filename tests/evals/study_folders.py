"""Constructed study folders: `study_of(build_run, axes, {"arm": (values, hits)})`, one run an arm and order.

`hits` has a character for each task in run order: 1 correct, p partially correct, 0 incorrect, . not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fieldmark.study.folder import RecordedRun, RecordedStudy, StudyDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

VERDICTS: Any = {"1": "correct", "p": "partially_correct", "0": "incorrect"}


def run_in(build_run: BuildRun, name: str, hits: str, tasks: Sequence[str] = (), **config: Any) -> None:
    """A run of a study, its tasks in the order of `tasks`, else t0, t1, …"""
    run = build_run(f"study/{name}", **config)
    for task, hit in zip(tasks or [f"t{place}" for place in range(len(hits))], hits, strict=True):
        run.task(task)
        if hit != ".":
            run.episode(task, verdict=VERDICTS[hit])
    run.finish()


def record(
    build_run: BuildRun, arms: Mapping[str, Mapping[str, str]], runs: Sequence[tuple[str, str, int | None]]
) -> StudyDir:
    """study.json over run folders that are there; the first arm is the baseline."""
    study = StudyDir(build_run("elsewhere").folder.path.parent / "study")
    study.create()
    recorded = RecordedStudy(
        name="study", started="2026-11-30T10:15:00Z", baseline=next(iter(arms)),
        axes=list(next(iter(arms.values()))), benchmark={"name": "constructed", "version": "1"},
        arms={arm: dict(values) for arm, values in arms.items()},
        runs=[RecordedRun(run=run, arm=arm, order=order) for run, arm, order in runs],
    )  # fmt: skip
    study.write(recorded, {})
    return study


def study_of(build_run: BuildRun, arms: Mapping[str, tuple[Mapping[str, str], str]]) -> StudyDir:
    """A study without orders."""
    for arm, (_, hits) in arms.items():
        run_in(build_run, arm, hits)
    return record(
        build_run, {arm: values for arm, (values, _) in arms.items()}, [(arm, arm, None) for arm in arms]
    )
