"""From a configuration to a run folder that is ready to go: a new one, or one to go on with."""

from __future__ import annotations

import datetime
import hashlib
import platform
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from fieldmark import __version__, own_agent, own_code, own_data, preflight, protocol, replaying
from fieldmark.agents.registry import agent_name, is_path
from fieldmark.blobs import BlobStore
from fieldmark.config import ModelConfig, RunConfig
from fieldmark.doctor.brief import warnings
from fieldmark.errors import DataFault, UsageError
from fieldmark.judging import classifier
from fieldmark.judging import recording as judging
from fieldmark.preflight import Plan
from fieldmark.rundir import RunDir
from fieldmark.runner import Run
from fieldmark.sandbox import image
from fieldmark.sandbox.gateway.endpoint import public_url
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.staging import StagedTask, stage
from fieldmark.task import Task
from fieldmark.trace import Picture, Role

Say = Callable[[str], None]
MAY_CHANGE = {
    *("parallel", "min_free_mb", "max_cost", "max_hours", "preflight", "allow_blind", "strict"),
    *("out", "name"),
}
"""What a resumed run may do otherwise without changing what is measured."""
PATHS = ("data", "site", "web_archive", "index", "registry", "actions", "replay", "cache")
"""Options that are paths of this machine, beside the benchmark: kept in the private part only."""


def new_run(config: RunConfig, say: Say) -> Run:
    """Check everything, make the run folder, stage the pictures."""
    path = config.out or Path("runs") / (config.name or _default_name(config))
    full = preflight.check_disk(path, config.min_free_mb)
    if full:
        raise UsageError(full)
    plan = preflight.make_plan(config)
    for line in plan.benchmark.warnings:
        say(f"{plan.benchmark.name}: {line}")
    _warn(plan, say)
    folder = RunDir.create(path)
    folder.lock()
    staged, refused = stage_all(plan.tasks, config, BlobStore(folder.blobs))
    for line in refused.values():
        say(f"refused: {line}")
    if not staged:
        raise UsageError(f"no task is left to run: {next(iter(refused.values()), 'the selection is empty')}")
    folder.write_tasks([item.public() for item in staged], {item.task.id: item.task.gold for item in staged})
    folder.write_paths(_paths(config))
    described = describe(plan, path.name, refused)
    folder.write_config(described)
    if plan.recording and (warning := replaying.warning(plan.recording, described)):
        say(warning)
    return Run(plan, folder, staged)


def resume_run(path: Path, flags: dict[str, Any], say: Say) -> Run:
    """Open a run, repair what a kill left, and keep its finished episodes."""
    folder = RunDir.open(path)
    recorded = RunConfig.model_validate({**folder.config()["config"], **folder.paths()})
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
    folder.lock()
    for line in folder.repair():
        say(line)
    again = folder.drop_faults()
    if again:
        say(f"{again} episodes that broke through no fault of the agent will run again")
    staged = _staged_before(folder, plan)
    done = {record.key for record in folder.episodes()}
    return Run(plan, folder, staged, done)


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
    was, now = folder.config().get("web", {}), plan.web.describe()
    for part in ("site", "archive"):
        if was.get(part, {}).get("sha256") != now.get(part, {}).get("sha256"):
            raise UsageError(f"the web {part} has changed since {path} began: start a new run")


def stage_all(
    tasks: list[Task], config: RunConfig, blobs: BlobStore
) -> tuple[list[StagedTask], dict[str, str]]:
    """Each task's picture made safe; a picture that cannot be used refuses its task, with one line why."""
    staged, refused = [], {}
    for task in tasks:
        try:
            staged.append(stage(task, config.image_side, blobs, config.max_megapixels))
        except DataFault as error:
            refused[task.id] = str(error)
    return staged, refused


def describe(plan: Plan, run_id: str, refused: dict[str, str]) -> dict[str, Any]:
    """run.json: all that made this run what it is, and no secret."""
    config = plan.config
    return {
        "id": run_id,
        "name": config.name or run_id,
        "state": "running",
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "config": _publishable(plan),
        "benchmark": {
            "name": plan.benchmark.name,
            "version": plan.benchmark.version,
            "tasks": len(plan.tasks),
            "guard": plan.benchmark.guard,
            **({"data": plan.benchmark.data} if plan.benchmark.data else {}),
        },
        **protocol.describe(config.protocol),
        "agent": plan.agent_name,
        **({"agent_sha256": plan.agent_sha256} if plan.agent_sha256 else {}),
        "model": {
            "name": plan.upstream.name,
            "sees": plan.upstream.sees,
            "space": config.model.space,
            "base_url": _public(config.model.base_url),
            "force": dict(plan.upstream.force),
            "preflight": _trial(plan, "agent"),
            **replaying.describe(plan.recording),
        },
        "eyes": config.eyes
        and {
            "name": config.eyes.name,
            "base_url": _public(config.eyes.base_url),
            "preflight": _trial(plan, "eyes"),
        },
        "tools": plan.tools,
        "skills": {skill.name: skill.sha256 for skill in plan.skills},
        "ocr": config.ocr,
        "limits": config.limits.model_dump(),
        "image_side": config.image_side,
        "parallel": plan.parallel,
        "epochs": config.epochs,
        "container": _container(plan),
        "seed": config.seed,
        "judge": plan.judge.name,
        "judges": judging.describe(plan.judge),
        **own_code.describe(plan.own_tools, config.judge.name),
        "web": plan.web.describe() if plan.web else {"mode": config.web},
        "search": plan.search.describe() if plan.search else {},
        **own_data.describe(config),
        "versions": _versions(plan),
        "image": {"tag": image.tag(plan.variant), "id": plan.image_id},
        "prompts": _prompt_hashes(),
        "refused": [{"id": task_id, "reason": reason} for task_id, reason in refused.items()],
        "git": _git_revision(),
    }


def _container(plan: Plan) -> dict[str, Any]:
    """What each container may use, and the packages of others in it."""
    needs = plan.needs
    limits = {"memory_mb": needs.memory_mb, "processors": needs.processors, "pids": needs.pids}
    return {**limits, **({"packages": [*needs.kit.npm, *needs.kit.pip]} if needs.kit else {})}


def finish(run: Run, state: str) -> None:
    """Write how the run ended into run.json: how its models were paced, how its web archive answered."""
    config = {**run.folder.config(), "state": state}
    for role, upstream in (("model", run.plan.upstream), ("eyes", run.plan.eyes)):
        if isinstance(upstream, HttpUpstream):
            config[role] = {**config[role], "pacing": upstream.pace.describe()}
    config["spent"] = run.spending.describe()
    if run.plan.web:
        config["web"] = {**run.plan.web.describe(), **run.plan.web.uses()}
    if run.plan.search:
        config["search"] = run.plan.search.describe()
    run.folder.write_config(config)


def _warn(plan: Plan, say: Say) -> None:
    for role, found in plan.trials.items():
        for line in warnings("the model" if role == "agent" else role, found):
            say(line)


def _trial(plan: Plan, role: Role) -> dict[str, Any]:
    """What the preflight found of a model: name → whether it can (None: not found out), and what was seen."""
    return {each.name: {"can": each.can, "said": each.said} for each in plan.trials.get(role, [])}


def _staged_before(folder: RunDir, plan: Plan) -> list[StagedTask]:
    tasks = {task.id: task for task in plan.benchmark.tasks}
    return [
        StagedTask(
            tasks[row["id"]], Picture.model_validate(row["image"]), Picture.model_validate(row["view"]),
            row["source_sha256"], row.get("notes", []),
        )
        for row in folder.tasks()
    ]  # fmt: skip


def _default_name(config: RunConfig) -> str:
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    model = "replay" if config.replay else config.model.name.rpartition("/")[2]
    return f"{now}-{agent_name(config.agent)}-{model}"


def _public(base_url: str | None) -> str | None:
    return public_url(base_url) if base_url else None


def _publishable(plan: Plan) -> dict[str, Any]:
    """The configuration as it was carried out, without secrets and without paths of this machine."""
    recorded = plan.config.model_dump(mode="json", exclude_none=True, exclude={"out", "tool", *PATHS})
    recorded["benchmark"] = plan.benchmark.name
    recorded["agent"] = plan.agent_name
    recorded["judge"] = judging.publishable(plan.config.judge, plan.judge)
    if plan.config.classifier:
        recorded["classifier"] = classifier.publishable(plan.config.classifier)
    if plan.config.skills:
        recorded["skills"] = own_code.skills_by_path(plan.config.skills, public=True)
    recorded["model"]["sees"] = plan.upstream.sees
    for model in (recorded["model"], recorded.get("eyes", {})):
        if "base_url" in model:
            model["base_url"] = public_url(model["base_url"])
    return recorded


def _paths(config: RunConfig) -> dict[str, Any]:
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


def _versions(plan: Plan) -> dict[str, str]:
    packages = ("langgraph", "docker", "openai", "opencv-python", "pytesseract")
    return {
        "fieldmark": __version__,
        "python": platform.python_version(),
        "engine": plan.docker.version()["Version"],
        **{name: version(name) for name in packages},
    }


def _prompt_hashes() -> dict[str, str]:
    prompts = [
        *(files("fieldmark.agents") / "prompts").iterdir(),
        files("fieldmark.sandbox") / "gateway/eyes.md",
    ]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in prompts if p.name.endswith(".md")}


def _git_revision() -> str | None:
    """The revision of the checkout that this package runs from, with `+` when it is changed."""
    here = Path(__file__).resolve().parent
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "-uno"], cwd=here, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip() + ("+" if changed.stdout else "")
