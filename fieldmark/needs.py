"""What an agent needs: of its container, of other people's packages, and of its model's server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Wire = Literal["chat_completions", "responses", "messages"]


@dataclass(frozen=True)
class Kit:
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


@dataclass(frozen=True)
class Needs:
    """What one container may use. `processors` are whole cores' worth of time. `wire` is the format in which
    its model must be served.
    """

    memory_mb: int = 1024
    processors: float = 1.0
    pids: int = 256
    kit: Kit | None = None
    wire: Wire = "chat_completions"
