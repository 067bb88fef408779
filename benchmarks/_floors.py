"""The least that an episode in a container can cost: plain `docker run`, `exec`, `rm -f`."""

from __future__ import annotations

import secrets
import subprocess
from concurrent.futures import ThreadPoolExecutor

from benchmarks._cost import Cost, children_seconds, costing
from fieldmark.sandbox.container import PYTHON
from fieldmark.sandbox.engine import connect

FLOORS = {
    "floor (a)": ["true"],
    "floor (b)": [PYTHON, "-c", "import langgraph.graph"],
}
"""What is run by `exec` in a container that does nothing else."""
LIFETIME = "120"  # seconds, should nobody remove it


def floor(name: str, image: str, parallel: int, n: int) -> Cost:
    """`n` containers, `parallel` at a time, each made, entered once and removed by the `docker` command."""
    label = f"fieldmark-floor={secrets.token_hex(4)}"
    make = ["docker", "run", "-d", "--rm", "--init", "--network", "none", "--label", label, image]

    def one(_: int) -> None:
        container = _docker([*make, "sleep", LIFETIME])
        _docker(["docker", "exec", container, *FLOORS[name]])
        _docker(["docker", "rm", "-f", container])

    watch = costing(connect(), label, n, children_seconds)
    with watch as found, ThreadPoolExecutor(parallel) as pool:
        list(pool.map(one, range(n)))
    return found[0]


def _docker(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
