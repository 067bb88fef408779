"""The plan of a run, packed on the driver and unpacked on a node, where it has no gold and no judge."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldmark.cluster.refusing import PACKAGE, portable
from fieldmark.cluster.travelling import Brief
from fieldmark.config import RunConfig
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.judges import get_judge
from fieldmark.own_code import OwnTools
from fieldmark.preflight import Plan, make_web
from fieldmark.run_models import make_models
from fieldmark.sandbox.gateway.search.choosing import make_search

TRAVELS = {
    *("model", "eyes", "protocol", "skill_calls", "ocr", "limits", "image_bytes"),
    *("image_megapixels", "web", "allow", "deny", "allow_local", "search", "reverse", "allow_upload"),
    "serpapi_key_env",
}
"""The settings that an episode is played by. The others are the driver's: what is judged, kept and spent."""


def pack(plan: Plan, run_id: str, expected: int) -> Brief:
    """UsageError for files of this machine that no node can read."""
    config = plan.config
    told = config.model_dump(mode="json", include=TRAVELS, exclude_none=True)
    for role in ("model", "eyes"):
        _name_the_server(told.get(role))
    return Brief(
        run_id=run_id, config=told, benchmark=_without_tasks(plan.benchmark), tools=plan.tools,
        skills=plan.skills, needs=plan.needs, variant=plan.variant, agent_name=plan.agent_name,
        worker_agent=plan.worker_agent, costs=plan.costs,
        files={inside: Path(here).read_bytes() for here, inside in plan.mounts.items()},
        actions=config.actions.read_bytes() if config.actions else None,
        keys=keys_of(config), expected=expected,
    )  # fmt: skip


def unpack(brief: Brief, docker: Any, image_id: str, folder: Path) -> Plan:
    """The plan on a node; the user's own files are written below `folder`. UsageError: a server that this
    node does not reach.
    """
    settings = {**brief.config, "actions": _written(folder / "actions.toml", brief.actions)}
    config = RunConfig.model_validate({key: value for key, value in settings.items() if value is not None})
    told = brief.benchmark
    benchmark = replace(
        told, index=_found(told.index), registry=_found(told.registry), site=_found(told.site)
    )
    web = make_web(config, benchmark)
    upstream, eyes = make_models(config, None)
    mounts = {}
    for number, (inside, data) in enumerate(brief.files.items()):
        here = folder / f"own{number}" / Path(inside).name
        mounts[str(_written(here, data))] = inside
    return Plan(
        config=config, benchmark=benchmark, tasks=[], tools=brief.tools, skills=brief.skills,
        upstream=upstream, docker=docker, variant=brief.variant, image_id=image_id, needs=brief.needs,
        parallel=brief.at_once, agent_name=brief.agent_name, judge=get_judge(config.judge),
        own_tools=OwnTools([], {}), worker_agent=brief.worker_agent, web=web,
        search=make_search(config, web, benchmark.index) if brief.tools else None, eyes=eyes,
        costs=brief.costs, mounts=mounts,
    )  # fmt: skip


def keys_of(config: RunConfig) -> dict[str, str]:
    """The variables whose values an episode of this run may send to its servers."""
    asks_serpapi = config.reverse == "serpapi" or (config.search or "").startswith("serpapi")
    names = [
        *(each.key_env for each in (config.model, config.eyes) if each and each.key_env),
        *([config.serpapi_key_env] if asks_serpapi else []),
    ]
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def _name_the_server(model: dict[str, Any] | None) -> None:
    """A server that the driver's environment names is named for nodes, whose environment is another."""
    url = os.environ.get("OPENAI_BASE_URL")
    if model and url and not model["name"].startswith("builtin/"):
        model.setdefault("base_url", url)


def _without_tasks(benchmark: Benchmark) -> Benchmark:
    return Benchmark(
        name=benchmark.name, version=benchmark.version, tasks=[], guard=benchmark.guard,
        index=portable(benchmark.index, "index"), registry=portable(benchmark.registry, "registry"),
        site=portable(benchmark.site, "site"),
    )  # fmt: skip


def _found(path: Path | None) -> Path | None:
    return PACKAGE / path if path else None


def _written(path: Path, data: bytes | None) -> Path | None:
    if data is None:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o644)
    return path
