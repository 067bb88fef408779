"""run.json: all that made a run what it is, and no secret."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from fieldmark import __version__, own_code, own_data, protocol, replaying
from fieldmark.clock import utc
from fieldmark.config import FROZEN
from fieldmark.judging import classifier
from fieldmark.judging import recording as judging
from fieldmark.preflight import Plan
from fieldmark.sandbox import image
from fieldmark.sandbox.gateway.endpoint import public_url
from fieldmark.task_selection import describe_order
from fieldmark.trace import Role

PATHS = (
    "data", "image_root", "site", "web_archive", "index", "registry", "facets", "actions", "replay", "cache"
)  # fmt: skip
"""Options that are paths of this machine, beside the benchmark: kept in the private part only."""


def describe(plan: Plan, run_id: str, refused: dict[str, str]) -> dict[str, Any]:
    """What run.json says."""
    config = plan.config
    return {
        "id": run_id,
        "name": config.name or run_id,
        "state": "running",
        "started": utc(),
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
        "carries": {skill.name: skill.allowed_tools for skill in plan.skills},
        "ocr": config.ocr,
        "limits": config.limits.model_dump(),
        "picture": config.image,
        "image_side": config.image_side,
        "parallel": plan.parallel,
        "epochs": config.epochs,
        **({"executor": plan.cluster.described()} if plan.cluster else {}),
        "container": _container(plan),
        "seed": config.seed,
        "order": describe_order(plan.tasks, config),
        "judge": plan.judge.name,
        "judges": judging.describe(plan.judge),
        **own_code.describe(plan.own_tools, config.judge.name),
        "web": plan.web.describe() if plan.web else {"mode": config.web},
        "search": plan.search.describe() if plan.search else {},
        **own_data.describe(config),
        **({"game": plan.games.described()} if plan.games else {}),
        "versions": _versions(plan),
        "image": {"tag": image.tag(plan.variant), "id": plan.image_id},
        "prompts": _prompt_hashes(),
        "refused": [{"id": task_id, "reason": reason} for task_id, reason in refused.items()],
        "git": git_revision(),
    }


def _container(plan: Plan) -> dict[str, Any]:
    """What each container may use, and the packages of others in it."""
    needs = plan.needs
    limits = {
        "memory_mb": needs.memory_mb,
        "processors": needs.processors,
        "pids": needs.pids,
        "runtime": needs.runtime or _runtime(plan),
    }
    return {**limits, **({"packages": [*needs.kit.npm, *needs.kit.pip]} if needs.kit else {})}


def _trial(plan: Plan, role: Role) -> dict[str, Any]:
    """What the preflight found of a model: name → whether it can (None: not found out), and what was seen."""
    return {each.name: {"can": each.can, "said": each.said} for each in plan.trials.get(role, [])}


def _public(base_url: str | None) -> str | None:
    return public_url(base_url) if base_url else None


def _publishable(plan: Plan) -> dict[str, Any]:
    """The configuration as it was carried out, without secrets and without paths of this machine."""
    recorded = plan.config.model_dump(
        mode="json", exclude_none=True, exclude={"out", "tool", "memory_url", "executor", "address", *PATHS}
    )
    recorded["benchmark"] = plan.benchmark.name
    recorded["agent"] = plan.agent_name
    if plan.config.frozen:
        recorded["memory"] = f"{FROZEN}{plan.config.frozen.resolve().name}"
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


def _versions(plan: Plan) -> dict[str, str]:
    packages = ("langgraph", "docker", "openai", "opencv-python", "pytesseract")
    return {
        "fieldmark": __version__,
        "python": platform.python_version(),
        "engine": _engine(plan),
        **{name: version(name) for name in packages},
    }


def _runtime(plan: Plan) -> str:
    if plan.cluster:
        return plan.cluster.nodes[0].facts.runtime
    return str(plan.docker.info()["DefaultRuntime"])


def _engine(plan: Plan) -> str:
    if plan.cluster:
        return plan.cluster.nodes[0].facts.engine
    return str(plan.docker.version()["Version"])


def _prompt_hashes() -> dict[str, str]:
    prompts = [
        *(files("fieldmark.agents") / "prompts").iterdir(),
        files("fieldmark.sandbox") / "gateway/eyes.md",
    ]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in prompts if p.name.endswith(".md")}


def git_revision() -> str | None:
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
