"""An agent of the user's own, named by the path of its file: what a run needs to know of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.agents.registry import is_path
from fieldmark.errors import UsageError

FOLDER = "/opt/own"
"""Where a container finds files of the user's own."""


@dataclass(frozen=True)
class OwnAgent:
    """`file` is on this machine; the container reads it, and nothing beside it, at `inside`."""

    file: Path

    @property
    def inside(self) -> str:
        return f"{FOLDER}/{self.file.name}"

    @property
    def mounts(self) -> dict[str, str]:
        return {str(self.file): self.inside}

    def sha256(self) -> str:
        return hashlib.sha256(self.file.read_bytes()).hexdigest()


def own_agent(name: str) -> OwnAgent | None:
    """None for a name of ours. UsageError for a file that a container, another user there, cannot read."""
    if not is_path(name):
        return None
    file = Path(name).resolve()
    if not file.is_file():
        raise UsageError(f"--agent {name} is not a file: name a .py or .toml file, or an agent of ours")
    if not file.stat().st_mode & 0o004:
        raise UsageError(f"--agent {name} can be read by its owner alone: `chmod a+r {name}`")
    return OwnAgent(file)


def check_unchanged(sha256: str | None, recorded: dict[str, Any], where: str) -> None:
    """A run goes on with the agent that it began with. UsageError when its file has changed."""
    if recorded.get("agent_sha256") != sha256:
        raise UsageError(f"the agent's file has changed since {where} began: start a new run")
