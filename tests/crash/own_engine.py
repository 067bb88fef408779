"""A Docker engine of the test's own, which it may kill: other folders, other socket, another network.

Needs root. In a network namespace of its own: a second `dockerd` would remove the bridge of the first.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from signal import SIGTERM, Signals
from typing import Any

import docker
from docker.errors import DockerException


class OwnEngine:
    """`folder` holds everything of it, and must have a short path for its sockets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = f"unix://{folder}/docker.sock"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        (self.folder / "pid").unlink(missing_ok=True)
        command = [
            "unshare", "--net", "dockerd", "--host", self.host, "--data-root", f"{self.folder}/data",
            "--exec-root", f"{self.folder}/exec", "--pidfile", f"{self.folder}/pid", "--bridge", "none",
            "--iptables=false", "--ip6tables=false", "--cgroup-parent", "fieldmark-crash",
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.2)

    def stop(self, number: Signals = SIGTERM) -> None:
        """SIGTERM: as a restart of the service does; it kills its containers. SIGKILL: it leaves them."""
        self._process.send_signal(number)
        self._process.wait(60)

    def close(self) -> None:
        """Stop it with its containerd, which it leaves running when it is killed."""
        if self._process.poll() is None:
            self.stop()

    def copy_image(self, engine: Any, name: str) -> None:
        """Load an image that another engine has."""
        image = engine.images.get(name)
        self.client().images.load(image.save(named=name))

    def client(self) -> Any:
        return docker.DockerClient(self.host, timeout=180)

    def _answers(self) -> bool:
        try:
            return bool(self.client().ping())
        except DockerException:
            return False
