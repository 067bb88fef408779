"""What the episodes of a run share on the machine that plays them: containers, look-ups, model servers."""

from __future__ import annotations

from fieldmark.preflight import Plan
from fieldmark.sandbox.container import PYTHON
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.session import HARD_STOP
from fieldmark.sandbox.pool import ContainerPool

SPARE = 4
"""Containers kept warm at most."""


def new_backends(plan: Plan) -> Backends:
    """The host's services behind the gateways."""
    config, benchmark = plan.config, plan.benchmark
    return Backends(
        benchmark.index, benchmark.registry, classifier="classify_image" in plan.tools,
        room=(config.image_bytes, int(config.image_megapixels * 1e6)),
    )  # fmt: skip


def new_pool(plan: Plan, run_id: str, expected: int) -> ContainerPool:
    """The containers of a run; `expected` are the episodes that are to come."""
    return ContainerPool(
        plan.docker, plan.image_id, run_id, [PYTHON, "-m", "fieldmark.agents.worker", plan.worker_agent],
        needs=plan.needs, lifetime=HARD_STOP * plan.config.limits.seconds + 60,
        spare=min(SPARE, plan.parallel), expected=expected, mounts=plan.mounts,
    )  # fmt: skip


async def shut(pool: ContainerPool, plan: Plan) -> None:
    """Remove the containers, give back the connections to the models."""
    await pool.close()
    for upstream in [plan.upstream, *([plan.eyes] if plan.eyes else [])]:
        await upstream.close()
