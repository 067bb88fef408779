"""What is the user's own: a picture index, an aircraft registry, facets of tasks, names of tools."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.facets import with_facets
from fieldmark.sandbox.gateway.conversation.actions import load as load_actions


def with_own_data(benchmark: Benchmark, config: RunConfig) -> Benchmark:
    """`benchmark` with `--index`, `--registry` and `--facets`. UsageError when these or `--actions` cannot be
    used.
    """
    if config.index is not None:
        _open_index(config)
    if config.registry is not None:
        _check_registry(config.registry)
    if config.actions is not None:
        load_actions(config.actions)
    benchmark = with_facets(benchmark, config.facets) if config.facets else benchmark
    return replace(
        benchmark,
        index=config.index or benchmark.index,
        registry=config.registry or benchmark.registry,
    )


def describe(config: RunConfig) -> dict[str, dict[str, str]]:
    """For run.json: name and hash of what is the user's own."""
    told = {}
    if config.index is not None:
        told["index"] = {"name": config.index.resolve().name, "sha256": _open_index(config).sha256()}
    if config.registry is not None:
        digest = hashlib.sha256(config.registry.read_bytes()).hexdigest()
        told["registry"] = {"name": config.registry.name, "sha256": digest}
    if config.facets is not None:
        digest = hashlib.sha256(config.facets.read_bytes()).hexdigest()
        told["facets"] = {"name": config.facets.name, "sha256": digest}
    if config.actions is not None:
        digest = hashlib.sha256(config.actions.read_bytes()).hexdigest()
        told["actions"] = {"name": config.actions.name, "sha256": digest}
    return told


def check_unchanged(config: RunConfig, recorded: dict[str, Any], where: str) -> None:
    """A run goes on with the data that it began with. UsageError when they have changed."""
    for part, now in describe(config).items():
        if recorded.get(part, {}).get("sha256") != now["sha256"]:
            raise UsageError(f"the {part} has changed since {where} began: start a new run")


def _check_registry(path: Path) -> None:
    from fieldmark.tools.aircraft.db import AircraftDb

    if not path.is_file():
        raise UsageError(f"--registry {path} is not a file: name a registry, CSV or SQLite")
    try:
        AircraftDb.open(path)
    except UsageError as error:
        raise UsageError(f"--registry {error}") from None


def _open_index(config: RunConfig) -> Any:
    from fieldmark.tools.image_index.local_index import LocalIndex

    assert config.index is not None
    try:
        return LocalIndex.open(config.index)
    except UsageError as error:
        raise UsageError(f"--index {error}") from None
