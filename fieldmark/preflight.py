"""Everything that can be known to be wrong before a run spends anything, told in one line each."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fieldmark.abilities import choose_abilities, no_abilities
from fieldmark.agents.base import Agent
from fieldmark.agents.registry import agent_name, get_agent
from fieldmark.config import ModelConfig, RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.evals.judges import get_judge
from fieldmark.needs import Needs
from fieldmark.own_agent import own_agent
from fieldmark.own_data import with_own_data
from fieldmark.sandbox import engine, image
from fieldmark.sandbox.build_context import Variant
from fieldmark.sandbox.gateway.builtin import BUILTIN, ScoutUpstream
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url
from fieldmark.sandbox.gateway.search.choosing import make_search
from fieldmark.sandbox.gateway.search.door import SearchDoor
from fieldmark.sandbox.gateway.upstream import HttpUpstream, Upstream
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.skills.skill import Skill
from fieldmark.task import Task
from fieldmark.tools.boxes import space_of
from fieldmark.wires import check_wire

MAX_PARALLEL = 8
"""Episodes at once when nothing is said."""
BROWSER_MB = 512
"""What a container with a browser may use more."""


@dataclass(frozen=True)
class Plan:
    """A run whose names, files and services were found to be there.

    `agent_name` is what records call its agent, `worker_agent` what the worker is started with; `mounts` are
    files of this machine that a container reads, and where. `agent_sha256` is of an agent of the user's own.
    """

    config: RunConfig
    benchmark: Benchmark
    tasks: list[Task]
    tools: list[str]
    skills: list[Skill]
    upstream: Upstream
    docker: Any
    variant: Variant
    image_id: str
    needs: Needs
    parallel: int
    agent_name: str
    worker_agent: str
    web: WebDoor | None = None
    search: SearchDoor | None = None
    eyes: Upstream | None = None
    agent_sha256: str | None = None
    mounts: dict[str, str] = field(default_factory=dict)


def make_plan(config: RunConfig) -> Plan:
    """Check a configuration against the world; UsageError for the first thing that is wrong."""
    benchmark = with_own_data(load_benchmark(config.benchmark), config)
    tasks = select_tasks(benchmark, config)
    own = own_agent(config.agent)
    agent = get_agent(config.agent)
    web = make_web(config, benchmark)
    search = make_search(config, web, benchmark.index) if agent.uses_tools else None
    tools, skills = (
        choose_abilities(config, benchmark, web, search, agent.without_tools)
        if agent.uses_tools
        else no_abilities(config)
    )
    needs = needs_of(agent, tools)
    get_judge(config.judge)
    upstream = make_upstream(config.model)
    check_wire(needs.wire, agent.name, config.model)
    eyes = make_eyes(config.eyes)
    config = config.model_copy(update={"model": with_space(config.model)})
    docker = engine.connect()
    variant = Variant("rapidocr" if config.ocr == "rapidocr" else None, needs.kit)
    image_id = image.require(docker, variant, config.agent)
    parallel = config.parallel or at_once(docker, needs)
    return Plan(
        config, benchmark, tasks, tools, skills, upstream, docker, variant, image_id, needs, parallel,
        agent_name(config.agent), own.inside if own else config.agent, web, search, eyes,
        agent_sha256=own.sha256() if own else None, mounts=own.mounts if own else {},
    )  # fmt: skip


def needs_of(agent: Agent, tools: list[str]) -> Needs:
    """What a container must have: the agent's own needs, and room for a browser where it may use one."""
    more = BROWSER_MB if "browser" in tools else 0
    return replace(agent.needs, memory_mb=agent.needs.memory_mb + more)


def at_once(docker: Any, needs: Needs) -> int:
    """Episodes that the engine's machine has the cores and the memory for, at most MAX_PARALLEL."""
    machine = docker.info()
    by_cores = machine["NCPU"] / needs.processors
    by_memory = 0.8 * machine["MemTotal"] / (needs.memory_mb * 2**20)
    return max(1, min(MAX_PARALLEL, int(by_cores), int(by_memory)))


def select_tasks(benchmark: Benchmark, config: RunConfig) -> list[Task]:
    """The tasks of the run, in benchmark order."""
    tasks = benchmark.tasks
    if config.tasks is not None:
        known = {task.id for task in tasks}
        unknown = [name for name in config.tasks if name not in known]
        if unknown:
            raise UsageError(
                f"no task {unknown[0]!r} in {benchmark.name}: its ids are {tasks[0].id} to {tasks[-1].id}"
            )
        tasks = [task for task in tasks if task.id in set(config.tasks)]
    return tasks[: config.limit] if config.limit else tasks


def make_web(config: RunConfig, benchmark: Benchmark) -> WebDoor | None:
    """The run's web door; None when there is nothing to open: no site, no archive, nothing may go out."""
    recording = config.web == "record"
    if config.web_archive is None and config.web in ("record", "replay"):
        raise UsageError(f"--web {config.web} needs --web-archive, the folder of the recorded pages")
    if config.web_archive is not None and config.web == "live":
        raise UsageError("--web live uses no archive: leave --web-archive out, or take --web record")
    policy = Policy(
        tuple(config.allow), tuple(config.deny), tuple(benchmark.guard), frozenset(config.allow_local)
    )
    site = config.site or benchmark.site
    archive = Archive.open(config.web_archive, write=recording) if config.web_archive else None
    web = WebDoor(config.web, policy, site=Site(site) if site else None, archive=archive)
    return web if web.offers else None


def make_eyes(eyes: ModelConfig | None) -> Upstream | None:
    """The vision model's upstream, known to be reachable; None when the run has none."""
    if eyes is None:
        return None
    if eyes.name in BUILTIN or not eyes.sees:
        raise UsageError(f"eyes {eyes.name!r}: this model sees no pictures: name a vision model")
    return make_upstream(eyes, "--eyes-url")


def make_upstream(model: ModelConfig, option: str = "--base-url") -> Upstream:
    """A model's upstream, known to be reachable; UsageError, naming the `option` of its URL, otherwise."""
    if model.name.startswith("builtin/"):
        if model.name not in BUILTIN:
            raise UsageError(f"unknown model {model.name!r}: the built-in models are {', '.join(BUILTIN)}")
        return ScoutUpstream(model.force)
    base_url = model.base_url or os.environ.get("OPENAI_BASE_URL")
    if not base_url:
        instead = f"; or take {BUILTIN[0]}" if option == "--base-url" else ""
        raise UsageError(f"model {model.name!r} needs {option}, an OpenAI-compatible server{instead}")
    if urlsplit(base_url).scheme not in ("http", "https"):
        raise UsageError(f"{option} {base_url!r} is not an http:// or https:// URL")
    check_endpoint(model, base_url, option)
    return HttpUpstream(model.name, base_url, model.key_env, sees=model.sees, force=model.force)


def with_space(model: ModelConfig) -> ModelConfig:
    """The model with the space of its boxes settled."""
    return model.model_copy(update={"space": model.space or space_of(model.name)})


def check_endpoint(model: ModelConfig, base_url: str, option: str) -> None:
    """Ask the server for its models. A server that has no such list is taken at its word."""
    import openai

    url = endpoint(base_url, "").partition("?")[0]
    shown = public_url(url)
    key = os.environ.get(model.key_env) or "none"
    client = openai.OpenAI(base_url=url, api_key=key, timeout=15.0, max_retries=1)
    try:
        listed = [entry.id for entry in client.models.list().data]
    except openai.AuthenticationError:
        raise UsageError(f"{shown} refuses the key in ${model.key_env}: set it to a valid one") from None
    except openai.APIConnectionError as error:
        why = error.__cause__ or error
        raise UsageError(f"no model server answers at {shown} ({why}): start it or mend {option}") from None
    except (openai.APIStatusError, openai.APIError, ValueError, TypeError, AttributeError):
        return
    if listed and model.name not in listed:
        some = ", ".join(listed[:10])
        raise UsageError(f"unknown model {model.name!r}: {shown} serves {some}")


def check_disk(path: Path, min_free_mb: int) -> str | None:
    """One line when the disk of `path` has less than `min_free_mb` free, else None."""
    folder = next(p for p in (path, *path.absolute().parents) if p.exists())
    disk = shutil.disk_usage(folder)
    free = disk.free // 10**6
    if free >= min_free_mb or disk.total == 0:  # 0: not a disk (/proc, /sys); making the folder will say so
        return None
    return f"the disk of {path} is nearly full: {free} MB free, --min-free-mb wants {min_free_mb}; make room"
