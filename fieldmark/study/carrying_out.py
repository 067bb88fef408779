"""A study is carried out run by run: what is finished stays, what was killed goes on, what is new begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fieldmark import launch, preflight, remembering, trust
from fieldmark.clock import utc
from fieldmark.config import RunConfig
from fieldmark.errors import InterruptedRun, UsageError
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.preflight import Plan
from fieldmark.run_models import make_costs
from fieldmark.rundir import RunDir
from fieldmark.spending import Spending
from fieldmark.study.folder import RecordedRun, RecordedStudy, StudyDir
from fieldmark.study.matrix import label
from fieldmark.study.place import Place
from fieldmark.study.study import Study, StudyRun
from fieldmark.study.unchanged import asked, check_unchanged

Say = Callable[[str], None]


def carry_out(study: Study, go_on: str, say: Say) -> StudyDir:
    """Run what is missing. InterruptedRun when it stops early: the command `go_on` then goes on.

    UsageError, before anything begins, for an arm that cannot be run or a setting that has changed.
    """
    folder = StudyDir(study.path)
    missing = [run for run in study.runs if not is_done(folder.run(run.name))]
    plans = _checked_all(study, folder, missing)
    folder.create()
    with folder.lock():
        episodes = _begin(study, folder, plans)
        for count, run in enumerate(study.runs, 1):
            if run not in missing:
                continue
            label = f"run {count} of {len(study.runs)}, {run.name}"
            try:
                place = _place(study, folder, run, episodes, label, go_on)
                _play(folder.run(run.name), run.config, place, say)
            except KeyboardInterrupt:  # between two runs: while one goes on, it stops by itself
                raise InterruptedRun(f"stopped; go on with: {go_on}") from None
    return folder


def is_done(run: RunDir) -> bool:
    """Whether nothing of a run is left: all episodes are there and judged, none broke by our fault."""
    if not run.run_json.exists() or run.config().get("state") != "finished":
        return False
    return not {cell.outcome for cell in cells(run)} & {"not_run", "sandbox_error", "unjudged"}


def _checked_all(study: Study, folder: StudyDir, missing: list[StudyRun]) -> dict[str, Plan]:
    """Run → its plan, of those that are to come. UsageError: a changed setting, or an arm that cannot run."""
    if not folder.begun and any(folder.run(run.name).run_json.exists() for run in study.runs):
        raise UsageError(
            f"{study.path} holds runs of the study and no study.json: restore it or name another --out"
        )
    if before := _asked_before(folder):
        check_unchanged(study, folder.recorded(), before)
    for run in missing:
        _check_source(study, folder, run)
    return {run.name: _checked(run) for run in missing}


def _begin(study: Study, folder: StudyDir, plans: dict[str, Plan]) -> dict[str, int]:
    """Write study.json; run → its episodes."""
    recorded = _record(study, folder, list(plans.values()))
    now = {run.name: asked(run.config) for run in study.runs}
    folder.write(recorded, {**_asked_before(folder), **now})
    return {run.name: _episodes(folder.run(run.name), run, plans.get(run.name)) for run in study.runs}


def _asked_before(folder: StudyDir) -> dict[str, dict[str, str]]:
    """What the runs that have begun were asked for."""
    begun = {each.run for each, _ in folder.begun_runs()} if folder.begun else set()
    return {name: each for name, each in folder.asked().items() if name in begun} if begun else {}


def _checked(run: StudyRun) -> Plan:
    """The plan of a run that is to come, without asking its model anything. UsageError names the arm."""
    try:
        plan = preflight.make_plan(run.config.model_copy(update={"preflight": False}))
    except UsageError as error:
        raise UsageError(f"arm {run.arm.name}: {error}") from None
    plan.close()
    return plan


def _check_source(study: Study, folder: StudyDir, run: StudyRun) -> None:
    """The run whose memory a new one is to read. UsageError: it is none, or one of this study that is not
    finished: what it holds would hang on what is run first.
    """
    if run.config.frozen is None or folder.run(run.name).run_json.exists():
        return
    own = [
        each.name
        for each in study.runs
        if folder.run(each.name).path.resolve() == run.config.frozen.resolve()
    ]
    if own and not is_done(folder.run(own[0])):
        raise UsageError(
            f"arm {run.arm.name} reads the memory of {own[0]}, a run of this study that is not finished: run "
            "the study without this arm first, then add it"
        )
    try:
        remembering.frozen_source(run.config)
    except UsageError as error:
        raise UsageError(f"arm {run.arm.name}: {error}") from None


def _record(study: Study, folder: StudyDir, plans: list[Plan]) -> RecordedStudy:
    """study.json from now on: what is asked for, and the runs of earlier that are there."""
    was = folder.recorded() if folder.begun and folder.begun_runs() else None
    name, version = _benchmark(study, plans, was)
    now = utc()
    runs = [RecordedRun(run=run.name, arm=run.arm.name, order=run.order) for run in study.runs]
    asked_for = {run.name for run in study.runs}
    earlier = [each for each, _ in folder.begun_runs() if each.run not in asked_for] if was else []
    arms = {arm.name: {axis: label(value) for axis, value in arm.options.items()} for arm in study.arms}
    return RecordedStudy(
        name=study.path.name, started=was.started if was else now, baseline=study.baseline, axes=study.axes,
        benchmark={"name": name, "version": version},
        arms={**({each.arm: was.arms[each.arm] for each in earlier} if was else {}), **arms},
        runs=[*runs, *earlier],
    )  # fmt: skip


def _benchmark(study: Study, plans: list[Plan], was: RecordedStudy | None) -> tuple[str, str]:
    """Name and version, the same for all runs."""
    versions = {(plan.benchmark.name, plan.benchmark.version) for plan in plans}
    if was:
        versions.add((was.benchmark["name"], was.benchmark["version"]))
    if len(versions) > 1:
        raise UsageError(
            f"the benchmark has changed since {study.path} began: begin another study with --out"
        )
    return versions.pop()


def _episodes(run: RunDir, asked_for: StudyRun, plan: Plan | None) -> int:
    tasks = len(run.tasks()) if run.run_json.exists() else len(plan.tasks) if plan else 0
    return tasks * asked_for.config.epochs


def _place(
    study: Study, folder: StudyDir, now: StudyRun, episodes: dict[str, int], label: str, go_on: str
) -> Place:
    others = [(run, folder.run(run.name)) for run in study.runs if run is not now]
    begun = [(run, there) for run, there in others if there.run_json.exists()]
    spent = [Spending(run.config, make_costs(run.config), there).describe() for run, there in begun]
    return Place(
        label=label,
        done=sum(len(there.episodes()) for _, there in begun),
        total=sum(episodes.values()),
        usd=sum(each["usd"] or 0.0 for each in spent),
        hours=sum(each["hours"] for each in spent),
        go_on=go_on,
    )


def _play(folder: RunDir, config: RunConfig, place: Place, say: Say) -> None:
    """One run to its end, from where it is."""
    trust.remember(trust.named_by_run(config))
    run = launch.resume_run(folder.path, _flags(config), say) if folder.run_json.exists() else None
    run = run or launch.new_run(config, say)
    try:
        launch.play(replace(run, place=place))
    finally:
        run.folder.unlock()


def _flags(config: RunConfig) -> dict[str, Any]:
    """What a run that goes on may be told anew: what changes no result, and the servers with their keys."""
    told = {name: getattr(config, name) for name in launch.MAY_CHANGE}
    eyes_url = config.eyes.base_url if config.eyes else None
    return {**told, "base_url": config.model.base_url, "eyes_url": eyes_url}
