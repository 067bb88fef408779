"""From a configuration to a run folder that is ready to go: a new one, or one to go on with."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fieldmark import (
    __version__,
    own_agent,
    own_code,
    own_data,
    preflight,
    remembering,
    replaying,
    runner,
    trust,
)
from fieldmark.agents.registry import agent_name, is_path
from fieldmark.blobs import BlobStore
from fieldmark.config import RunConfig
from fieldmark.counting import counted
from fieldmark.describing import PATHS, describe
from fieldmark.doctor.brief import warnings
from fieldmark.errors import DataFault, InterruptedRun, UsageError
from fieldmark.forking.plan import Forking
from fieldmark.judging import classifier
from fieldmark.judging import recording as judging
from fieldmark.model_config import ModelConfig
from fieldmark.preflight import Plan
from fieldmark.run_reader import part
from fieldmark.rundir import RunDir
from fieldmark.runner import Run
from fieldmark.sandbox.gateway.endpoint import public_url
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.staging import StagedTask, stage
from fieldmark.task import Task
from fieldmark.trace import Picture

Say = Callable[[str], None]
MAY_CHANGE = {
    *("parallel", "min_free_mb", "max_cost", "max_hours", "preflight", "allow_blind", "strict"),
    *("out", "name", "memory_url", "with_twin", "executor", "address"),
}
"""What a resumed run may do otherwise without changing what is measured."""


def new_run(config: RunConfig, say: Say, forking: Forking | None = None) -> Run:
    """Check everything, make the run folder, stage the pictures. `forking`: the run is a fork of another."""
    trust.remember(trust.named_by_run(config))
    path = place_of(config)
    full = preflight.check_disk(path, config.min_free_mb)
    if full:
        raise UsageError(full)
    remembering.check(config)
    plan = preflight.make_plan(config)
    plan = forking.into(plan) if forking else plan
    for line in plan.benchmark.warnings:
        say(f"{plan.benchmark.name}: {line}")
    _warn(plan, say)
    folder = RunDir.create(path)
    folder.lock()
    staged, refused = stage_all(plan.tasks, config, folder.blob_store())
    for line in refused.values():
        say(f"refused: {line}")
    if not staged:
        raise UsageError(f"no task is left to run: {next(iter(refused.values()), 'the selection is empty')}")
    folder.write_tasks([item.public() for item in staged], {item.task.id: item.task.gold for item in staged})
    folder.write_paths(paths(config))
    if warning := remembering.take_over(config, folder, plan.benchmark.tasks):
        say(warning)
    described = {**describe(plan, path.name, refused), **remembering.describe(config, folder)}
    described |= {"forked": forking.described} if forking else {}
    folder.write_config(described)
    recording = forking.fork.recording if forking else plan.recording
    shown = described
    if forking and recording:  # a fork tells itself what its memory is
        shown = {**described, "memory": part(recording.described, "memory")}
    if recording and (warning := replaying.warning(recording, shown)):
        say(warning)
    return Run(plan, folder, staged)


def place_of(config: RunConfig) -> Path:
    """The folder of a new run; one that nobody named is named after the time."""
    return config.out or Path("runs") / (config.name or _default_name(config))


def resume_run(path: Path, flags: dict[str, Any], say: Say, *, trusted: bool = False) -> Run:
    """Open a run, repair what a kill left, and keep its finished episodes.

    UsageError for servers and files that its folder names and its user has not, unless they are `trusted`.
    """
    folder = RunDir.open(path)
    if was := folder.config().get("forked"):
        raise UsageError(
            f"{path} is a fork of {was['run']}, one episode: fork that again with `fieldmark fork`"
        )
    if folder.config().get("exam"):
        raise UsageError(f"{path} is a person's exam: go on with `fieldmark exam --resume {path}`")
    recorded = _recorded(folder)
    trust.check(path, trust.named_by_run(recorded), trust=trusted)
    config = recorded.model_copy(update={k: v for k, v in flags.items() if v is not None and k in MAY_CHANGE})
    servers: dict[str, Any] = {"model": _same_server(recorded.model, flags.get("base_url"), "--base-url")}
    if recorded.eyes:
        servers["eyes"] = _same_server(recorded.eyes, flags.get("eyes_url"), "--eyes-url")
    config = config.model_copy(update=servers)
    replaying.check_unchanged(config, folder.config(), path)
    plan = preflight.make_plan(config)
    _warn(plan, say)
    was = folder.config()["benchmark"]["version"]
    if plan.benchmark.version != was:
        raise UsageError(f"{plan.benchmark.name} has changed since {path} began: start a new run")
    _same_web(folder, plan, path)
    own_agent.check_unchanged(plan.agent_sha256, folder.config(), str(path))
    own_code.check_unchanged(plan.own_tools, config.judge.name, plan.skills, folder.config(), str(path))
    if plan.judge.name != folder.config().get("judge"):
        raise UsageError(f"the judge has changed since {path} began: `fieldmark judge {path}` takes another")
    own_data.check_unchanged(config, folder.config(), str(path))
    remembering.check_unchanged(config, folder)
    folder.lock()
    for line in folder.repair():
        say(line)
    again = folder.drop_faults()
    if again:
        say(f"again: {counted(again, 'episode')} that broke through no fault of the agent")
    staged = _staged_before(folder, plan)
    done = {record.key for record in folder.episodes()}
    return Run(plan, folder, staged, done)


def _recorded(folder: RunDir) -> RunConfig:
    """What the run was asked to do. UsageError: another version wrote it, with settings of its own."""
    asked = part(folder.config(), "config")
    if not asked:
        raise UsageError(f"{folder.run_json} does not tell what the run was asked to do: start a new run")
    try:
        return RunConfig.model_validate({**asked, **folder.paths()})
    except ValidationError as error:
        first = error.errors()[0]
        setting = ".".join(map(str, first["loc"])) or "config"
        wrote = part(folder.config(), "versions").get("fieldmark", "unknown")
        raise UsageError(
            f"{folder.path} was written by fieldmark {wrote} with settings that {__version__} has not "
            f"({setting}: {first['msg']}): go on with it by that version; show, report and view read it here"
        ) from None


def _same_server(model: ModelConfig, base_url: str | None, option: str) -> ModelConfig:
    """The recorded server; its URL may be given again, since run.json leaves out a query and a password."""
    if base_url is None:
        return model
    if public_url(base_url) != model.base_url:
        raise UsageError(
            f"{option}: this run began with {model.base_url}: start a new run for another server"
        )
    return model.model_copy(update={"base_url": base_url})


def _same_web(folder: RunDir, plan: Plan, path: Path) -> None:
    """A run that replays pages goes on with the same pages; one that records has more of them by now."""
    if plan.web is None or plan.config.web == "record":
        return
    was, now = part(folder.config(), "web"), plan.web.describe()
    for kind in ("site", "archive"):
        if part(was, kind).get("sha256") != part(now, kind).get("sha256"):
            raise UsageError(f"the web {kind} has changed since {path} began: start a new run")


def stage_all(
    tasks: list[Task], config: RunConfig, blobs: BlobStore
) -> tuple[list[StagedTask], dict[str, str]]:
    """Each task's picture made safe; a picture that cannot be used refuses its task, with one line why."""
    staged, refused = [], {}
    for task in tasks:
        try:
            room = (config.image_bytes, config.image_megapixels)
            staged.append(stage(task, config.image_side, blobs, config.max_megapixels, config.image, room))
        except DataFault as error:
            refused[task.id] = str(error)
    return staged, refused


def play(run: Run) -> None:
    """Carry a run out to its end, and write how it ended. InterruptedRun when it stops early."""
    try:
        runner.carry_out(run)
    except InterruptedRun:
        with contextlib.suppress(UsageError, OSError):  # the folder may be gone
            finish(run, "interrupted")
        raise
    finish(run, "finished")


def finish(run: Run, state: str) -> None:
    """Write how the run ended into run.json: how its models were paced, how its web archive answered."""
    config = {**run.folder.config(), "state": state}
    for role, upstream in (("model", run.plan.upstream), ("eyes", run.plan.eyes)):
        if isinstance(upstream, HttpUpstream) and not run.plan.cluster:  # each node paces on its own
            config[role] = {**config[role], "pacing": upstream.pace.describe()}
    config["spent"] = run.spending.describe()
    if run.plan.cluster:
        config["executor"] = run.plan.cluster.described()
    if run.plan.web:
        config["web"] = {**run.plan.web.describe(), **run.plan.web.uses()}
    if run.plan.search:
        config["search"] = run.plan.search.describe()
    run.folder.write_config(config)


def _warn(plan: Plan, say: Say) -> None:
    for role, found in plan.trials.items():
        for line in warnings("the model" if role == "agent" else role, found):
            say(line)


def _staged_before(folder: RunDir, plan: Plan) -> list[StagedTask]:
    tasks = {task.id: task for task in plan.benchmark.tasks}
    return [
        StagedTask(
            tasks[row["id"]], Picture.model_validate(row["image"]), Picture.model_validate(row["view"]),
            row["source_sha256"], row.get("notes", []), row.get("altered"), row.get("fitted"),
            [Picture.model_validate(each) for each in row.get("gallery", [])],
        )
        for row in folder.tasks()
    ]  # fmt: skip


def _default_name(config: RunConfig) -> str:
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    model = "replay" if config.replay else config.model.name.rpartition("/")[2]
    return f"{now}-{agent_name(config.agent)}-{model}"


def paths(config: RunConfig) -> dict[str, Any]:
    """What lies where on this machine, so that it holds from any folder; a bundled name as it is."""
    named = Path(config.benchmark)
    by_path = named.exists() and config.data is None
    paths: dict[str, Any] = {"benchmark": str(named.resolve()) if by_path else config.benchmark}
    if is_path(config.agent):
        paths["agent"] = str(Path(config.agent).resolve())
    paths |= judging.paths(config.judge) | classifier.paths(config.classifier)
    if config.skills:
        paths["skills"] = own_code.skills_by_path(config.skills, public=False)
    if config.tool:
        paths["tool"] = [str(path.resolve()) for path in config.tool]
    return paths | {key: str(path.expanduser().resolve()) for key in PATHS if (path := getattr(config, key))}
