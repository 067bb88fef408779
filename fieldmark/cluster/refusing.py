"""What a run over many machines cannot have, each told in one line before anything is spent."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark

INSTALL = "pip install 'fieldmark[ray]'"
PACKAGE = Path(__file__).parents[1]
_ADDRESS = re.compile(r"auto|[A-Za-z0-9._-]+:\d{1,5}")
_LOCAL = "leave --executor ray out"


def is_installed() -> bool:
    """Whether Ray is there."""
    return find_spec("ray") is not None


def check(config: RunConfig, benchmark: Benchmark, *, installed: bool) -> None:
    """UsageError for what is not there, or does not work over many machines. `installed`: Ray is."""
    if not installed:
        raise UsageError(f"--executor ray needs Ray: {INSTALL}, on this machine and on every node")
    for option, is_asked, instead in (
        ("--memory", config.memory != "off", "an episode reads what others left, in order"),
        ("--model replay:RUN", config.replay is not None, "the recording lies on this machine"),
        ("--cache", config.cache is not None, "the replies lie on this machine"),
        ("--web-archive", config.web_archive is not None, "the pages lie on this machine"),
        ("--site", config.site is not None, "the pages lie on this machine"),
        ("--index", config.index is not None, "the pictures lie on this machine"),
        ("--registry", config.registry is not None, "the file lies on this machine"),
    ):
        if is_asked:
            raise UsageError(f"{option} works on one machine only ({instead}): leave it out, or {_LOCAL}")
    if benchmark.galleries is not None:
        raise UsageError(f"games of AMIGO work on one machine only, their referee holds gold: {_LOCAL}")
    for what in ("index", "registry", "site"):
        portable(getattr(benchmark, what), what)
    _check_address(config.address)


def portable(path: Path | None, what: str) -> Path | None:
    """A file that every installation has, as its path below the package. UsageError for any other."""
    if path is None:
        return None
    if not path.is_relative_to(PACKAGE):
        raise UsageError(
            f"the benchmark's {what} {path} lies on this machine, which nodes cannot read: "
            f"take a benchmark without one, or {_LOCAL}"
        )
    return path.relative_to(PACKAGE)


def _check_address(address: str | None) -> None:
    if address is None:
        raise UsageError("--executor ray needs --address: auto on a machine of the cluster, or HOST:6379")
    if address.startswith("ray://"):
        raise UsageError(
            f"--address {address}: a run is started on a machine of the cluster, "
            "for its nodes must end with it: go there and name --address auto"
        )
    if not _ADDRESS.fullmatch(address):
        raise UsageError(f"--address {address}: give auto, or HOST:PORT of the head, as 10.0.0.5:6379")
