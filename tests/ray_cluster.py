"""A real Ray cluster of a few nodes, all on this machine, in folders of its own; no other is touched."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODE = "FIELDMARK_TEST_NODE"
"""The variable that names the node in all that it starts, its keeper too."""
RAY = Path(sys.executable).with_name("ray")
START_SECONDS = 60.0
STORE_BYTES = 100_000_000


class Node:
    """One `ray start --block`: its processes end with it."""

    def __init__(self, name: str, folder: Path, options: list[str], env: dict[str, str]) -> None:
        self.name = name
        self.log = folder / f"{name}.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [RAY, "start", "--block", "--disable-usage-stats", "--temp-dir", str(folder / name),
                 "--num-cpus", "1", "--object-store-memory", str(STORE_BYTES), *options],
                env={**env, NODE: name}, cwd=folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while b"Ray runtime started" not in self.log.read_bytes():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def processes(self) -> list[int]:
        """It and all that it started, but for what has left it."""
        found, rows = [self.process.pid], _parents()
        for pid in found:
            found += [child for child, parent in rows.items() if parent == pid]
        return found

    def kill(self) -> None:
        """As when the machine loses its power, but for what has left it."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


class RayCluster:
    """`env` is that of the nodes' processes, and of the actors that they start."""

    def __init__(self, nodes: int = 2, env: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fmr", dir="/tmp"))  # AF_UNIX paths end at 107 bytes
        self.env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **(env or {})}
        self.address = f"127.0.0.1:{_free_port()}"
        self.nodes: list[Node] = []
        head = ["--head", "--port", self.address.rpartition(":")[2], "--include-dashboard", "false"]
        self.add(head)
        for _ in range(nodes - 1):
            self.add()

    def add(self, options: list[str] | None = None) -> Node:
        """One node more."""
        options = options or ["--address", self.address]
        node = Node(f"n{len(self.nodes)}", self.folder, options, self.env)
        self.nodes.append(node)
        return node

    def close(self) -> None:
        """End every node and remove its folder."""
        for node in reversed(self.nodes):
            if node.process.poll() is None:
                node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _parents() -> dict[int, int]:
    """Every process → its parent."""
    rows = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            rows[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return rows
