"""What an agent needs: of its container, of other people's packages, and of its model's server."""

from __future__ import annotations

from typing import Literal, NamedTuple

Wire = Literal["chat_completions", "responses", "messages"]

MAX_PARALLEL = 8
"""Episodes at once when nothing is said."""


class Kit(NamedTuple):
    """Packages that an image holds for one agent, under `/opt/agents/<name>`: `NAME@VERSION` for npm,
    `NAME==VERSION` for pip.

    `node`: whether its programs run on Node.js, which then stands in `/opt/agents/<name>/node/bin`.
    """

    name: str
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    node: bool = True

    @property
    def folder(self) -> str:
        """Where it is inside the container."""
        return f"/opt/agents/{self.name}"

    @property
    def path(self) -> str:
        """Its folders of programs, for `PATH`."""
        return ":".join(f"{self.folder}/{part}" for part in ("node_modules/.bin", "node/bin", "venv/bin"))


class Needs(NamedTuple):
    """What one container may use. `processors` are whole cores' worth of time. `wire` is the format in which
    its model must be served. `runtime` is that of the engine which starts it; None: the engine's default.
    """

    memory_mb: int = 1024
    processors: float = 1.0
    pids: int = 256
    kit: Kit | None = None
    wire: Wire = "chat_completions"
    runtime: str | None = None

    def fit(self, cores: float, memory_bytes: float) -> int:
        """Episodes at once that a machine has the cores and the memory for, at most MAX_PARALLEL."""
        by_memory = 0.8 * memory_bytes / (self.memory_mb * 2**20)
        return max(1, min(MAX_PARALLEL, int(cores / self.processors), int(by_memory)))
