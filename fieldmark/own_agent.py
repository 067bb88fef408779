"""An agent of the user's own, named by the path of its file or folder: what a run needs to know of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.agents.registry import agent_name, agent_names, is_path
from fieldmark.errors import UsageError
from fieldmark.user_file import check_mountable, sha256

FOLDER = "/opt/own"
"""Where a container finds files of the user's own."""
GOLD_FILES = ("tasks.jsonl", "gold.jsonl")
MAX_FILES = 200


@dataclass(frozen=True)
class OwnAgent:
    """`mounts`: each file on this machine → where the container reads it, and nothing beside it.

    `inside` is what the worker is started with: the file, or the folder of all of them.
    """

    inside: str
    mounts: Mapping[str, str]

    def sha256(self) -> str:
        """Of the one file; of a folder, of the names and bytes of all."""
        if self.inside in self.mounts.values():
            return sha256(Path(next(iter(self.mounts))))
        digest = hashlib.sha256()
        for file, inside in sorted(self.mounts.items(), key=lambda pair: pair[1]):
            data = Path(file).read_bytes()
            digest.update(f"{inside}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()


def own_agent(name: str, benchmark: str = "") -> OwnAgent | None:
    """None for a name of ours. UsageError for files that a container cannot be given, for Python under the
    name of an agent of ours, and for a folder that holds gold: of any benchmark, or the one that is run.
    """
    if not is_path(name):
        return None
    path = Path(name).resolve()
    if path.suffix != ".toml" and agent_name(name) in agent_names():
        raise UsageError(
            f"--agent {name} would be called {agent_name(name)}, as an agent of ours is: rename it"
        )
    if path.is_dir():
        return OwnAgent(f"{FOLDER}/{path.name}", _folder(name, path, benchmark))
    if not path.is_file():
        raise UsageError(
            f"--agent {name} is not there: name a .py or .toml file, a folder, or an agent of ours"
        )
    check_mountable(f"--agent {name}", path)
    inside = f"{FOLDER}/{path.name}"
    return OwnAgent(inside, {str(path): inside})


def check_unchanged(sha256: str | None, recorded: dict[str, Any], where: str) -> None:
    """A run goes on with the agent that it began with. UsageError when its file has changed."""
    if recorded.get("agent_sha256") != sha256:
        raise UsageError(f"the agent's file has changed since {where} began: start a new run")


def _folder(name: str, folder: Path, benchmark: str) -> dict[str, str]:
    """Its files, without hidden ones and compiled ones."""
    files = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_dir() or any(part.startswith(".") or part == "__pycache__" for part in parts):
            continue
        _check_file(name, path, folder)
        files.append(path)
    if Path(benchmark).exists() and Path(benchmark).resolve().is_relative_to(folder):
        raise UsageError(
            f"--agent {name} holds the benchmark {benchmark}, and with it gold: move one of them"
        )
    if len(files) > MAX_FILES:
        raise UsageError(
            f"--agent {name} holds {len(files)} files: keep the agent's own, at most {MAX_FILES}"
        )
    return {str(path): f"{FOLDER}/{folder.name}/{path.relative_to(folder).as_posix()}" for path in files}


def _check_file(name: str, path: Path, folder: Path) -> None:
    if path.name in GOLD_FILES:
        raise UsageError(
            f"--agent {name} holds {path.relative_to(folder)}: gold must not reach an agent, move it out"
        )
    if not path.resolve().is_relative_to(folder) or not path.is_file():
        raise UsageError(
            f"--agent {name}: {path.relative_to(folder)} is no file of the folder: put a copy there"
        )
    check_mountable(f"--agent {name}: {path.relative_to(folder)}", path)
