"""Everything that can be known to be wrong before a run spends anything, told in one line each."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark import native, replaying
from fieldmark.abilities import choose_abilities, no_abilities
from fieldmark.agents.base import Agent
from fieldmark.agents.registry import agent_name, get_agent
from fieldmark.config import RunConfig
from fieldmark.doctor.abilities import Ability
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.evals.judges import Judge, get_judge
from fieldmark.games.referees import Games, make_games
from fieldmark.judging.checking import check
from fieldmark.needs import Needs
from fieldmark.own_agent import own_agent
from fieldmark.own_code import OwnTools, load_tools
from fieldmark.own_data import with_own_data
from fieldmark.prices import Costs
from fieldmark.run_models import make_costs, make_models, prices_of, try_models, with_space
from fieldmark.sandbox import engine, image
from fieldmark.sandbox.build_context import Variant
from fieldmark.sandbox.gateway.replay.recording import Recording
from fieldmark.sandbox.gateway.search.choosing import make_search
from fieldmark.sandbox.gateway.search.door import SearchDoor
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.skills.skill import Skill
from fieldmark.task import Task
from fieldmark.task_selection import select_tasks
from fieldmark.trace import Role
from fieldmark.wires import check_wire

if TYPE_CHECKING:
    from fieldmark.cluster.cluster import Cluster

BROWSER_MB = 512
"""What a container with a browser may use more."""


@dataclass(frozen=True)
class Plan:
    """A run whose names, files and services were found to be there.

    `agent_name` is what records call its agent, `worker_agent` what the worker is started with; `mounts` are
    files of this machine that a container reads, and where. `agent_sha256` is of an agent of the user's own.
    `memory_places` are the paths that a memory in form `native` carries. A run over many machines has a
    `cluster` in place of this machine's `docker`; `image_id` is then that of its first node.
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
    judge: Judge
    own_tools: OwnTools
    worker_agent: str
    web: WebDoor | None = None
    search: SearchDoor | None = None
    eyes: Upstream | None = None
    costs: Costs = field(default_factory=lambda: Costs({}))
    trials: dict[Role, list[Ability]] = field(default_factory=dict)
    recording: Recording | None = None
    agent_sha256: str | None = None
    mounts: dict[str, str] = field(default_factory=dict)
    memory_places: tuple[str, ...] = ()
    games: Games | None = None
    cluster: Cluster | None = None

    def close(self) -> None:
        """Let go of the engine or the cluster, of a plan that is not carried out."""
        if self.docker:
            self.docker.close()
        if self.cluster:
            self.cluster.drop()


def make_plan(config: RunConfig) -> Plan:
    """Check a configuration against the world; UsageError for the first thing that is wrong."""
    config, recording = replaying.settled(config)
    benchmark, tasks, agent, judge = load(config)
    _check_executor(config, benchmark)
    if recording:
        replaying.check_tasks(recording, tasks, config.epochs, config.replay)
    games = make_games(config, benchmark.galleries)
    places = native.places_of(config, agent)
    own = own_agent(config.agent, str(config.data or config.benchmark))
    own_tools = load_tools(config.tool)
    web = make_web(config, benchmark)
    search = make_search(config, web, benchmark.index) if agent.uses_tools else None
    tools, skills = (
        choose_abilities(config, benchmark, web, search, agent.without_tools, own_tools.tools)
        if agent.uses_tools
        else no_abilities(config)
    )
    needs = needs_of(agent, tools)._replace(runtime=config.runtime)
    upstream, eyes = make_models(config, recording)
    if not recording:
        check_wire(needs.wire, agent.name, config.model)
    check(judge)
    costs = make_costs(config)
    config = config.model_copy(update={"model": with_space(config.model), "prices": prices_of(config, costs)})
    tried = config.preflight and not recording and needs.wire == "chat_completions"
    variant = Variant("rapidocr" if config.ocr == "rapidocr" else None, needs.kit)
    trials = try_models(config, uses_tools=agent.uses_tools) if tried else {}
    place = _place(config, variant, needs)
    return Plan(
        config=config,
        benchmark=benchmark,
        tasks=tasks,
        tools=tools,
        skills=skills,
        upstream=upstream,
        docker=place.docker,
        variant=variant,
        image_id=place.image_id,
        needs=needs,
        parallel=settled_parallel(config, place.room),
        agent_name=agent_name(config.agent),
        judge=judge,
        own_tools=own_tools,
        worker_agent=own.inside if own else config.agent,
        web=web,
        search=search,
        eyes=eyes,
        costs=costs,
        trials=trials,
        recording=recording,
        agent_sha256=own.sha256() if own else None,
        memory_places=places,
        games=games,
        cluster=place.cluster,
        mounts={**(own.mounts if own else {}), **own_tools.mounts},
    )


def _check_executor(config: RunConfig, benchmark: Benchmark) -> None:
    if config.executor == "ray":
        from fieldmark.cluster import refusing

        refusing.check(config, benchmark, installed=refusing.is_installed())
    elif config.address is not None:
        raise UsageError("--address is for --executor ray: name that, or leave it out")


@dataclass(frozen=True)
class _Place:
    """Where containers are started. `room`: the episodes at once that it holds."""

    image_id: str
    room: int
    docker: Any = None
    cluster: Cluster | None = None


def _place(config: RunConfig, variant: Variant, needs: Needs) -> _Place:
    """This machine's engine, or the nodes of a cluster; UsageError where the image is not there."""
    if config.executor == "ray":
        from fieldmark.cluster.cluster import connect

        cluster = connect(str(config.address), variant, needs, config.agent, _say)
        return _Place(cluster.nodes[0].facts.image, cluster.room, cluster=cluster)
    docker = engine.connect()
    engine.check_runtime(docker, config.runtime)
    return _Place(image.require(docker, variant, config.agent), at_once(docker, needs), docker)


def load(config: RunConfig) -> tuple[Benchmark, list[Task], Agent, Judge]:
    """The benchmark, the tasks of the run, the agent and the judge."""
    loaded = load_benchmark(config.benchmark, config.data, config.map, config.benchmark_settings, config.seed)
    benchmark = with_own_data(loaded, config)
    tasks = select_tasks(benchmark.tasks, benchmark.name, config)
    return benchmark, tasks, get_agent(config.agent), get_judge(config.judge)


def needs_of(agent: Agent, tools: list[str]) -> Needs:
    """What a container must have: the agent's own needs, and room for a browser where it may use one."""
    more = BROWSER_MB if "browser" in tools else 0
    return agent.needs._replace(memory_mb=agent.needs.memory_mb + more)


def settled_parallel(config: RunConfig, fitting: int) -> int:
    """Episodes at once: as many as asked for, else as fit. UsageError: more than the memory allows."""
    most = config.most_at_once
    if config.waves and config.memory != "inherit":
        raise UsageError("--waves is for --memory inherit: leave it out")
    if config.memory_url and config.memory == "off":
        raise UsageError("--memory-url is for a memory: name --memory inherit, or leave it out")
    if config.memory_before and not config.frozen:
        raise UsageError("--memory-before is for --memory frozen:RUN: leave it out")
    if config.memory_form == "native":
        _check_native(config)
    if most is None:
        return config.parallel or fitting
    if config.parallel and config.parallel > most:
        raise UsageError(
            f"--parallel {config.parallel}: with --memory inherit an episode reads what the one before left; "
            f"leave it out, or let {config.parallel} at once read the same notes: --waves {config.parallel}"
        )
    return min(config.parallel or fitting, most)


def _check_native(config: RunConfig) -> None:
    if config.memory == "off":
        raise UsageError("--memory-form is for a memory: name --memory inherit, or leave it out")
    if config.memory_url:
        raise UsageError("--memory-url is for notes: leave it out, or --memory-form native")
    if config.most_at_once and config.most_at_once > 1:
        raise UsageError("--waves: files that agents keep themselves cannot be merged: leave it out")


def at_once(docker: Any, needs: Needs) -> int:
    """Episodes that the engine's machine has the cores and the memory for."""
    machine = docker.info()
    return needs.fit(machine["NCPU"], machine["MemTotal"])


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


def check_disk(path: Path, min_free_mb: int) -> str | None:
    """One line when the disk of `path` has less than `min_free_mb` free, else None."""
    folder = next(p for p in (path, *path.absolute().parents) if p.exists())
    disk = shutil.disk_usage(folder)
    free = disk.free // 10**6
    if free >= min_free_mb or disk.total == 0:  # 0: not a disk (/proc, /sys); making the folder will say so
        return None
    return f"the disk of {path} is nearly full: {free} MB free, --min-free-mb wants {min_free_mb}; make room"


def _say(line: str) -> None:
    import click

    click.echo(line, err=True)
