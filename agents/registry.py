"""Find an agent by its name: a file of this folder that defines `AGENT`, a recipe, or a path of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from fieldmark import plugins
from fieldmark.agents.base import Agent
from fieldmark.errors import UsageError

PACKAGE, MARKER = "fieldmark.agents", "AGENT"
ENDINGS = (".py", ".toml")
"""Of an agent's file: Python, or a recipe."""


def agent_names() -> tuple[str, ...]:
    """The names of all agents, sorted; none is imported, so that a command line need not load LangGraph."""
    return plugins.names(PACKAGE, MARKER)


def is_path(name: str) -> bool:
    """Whether it names a file of the user's own rather than an agent of ours."""
    return "/" in name or name.endswith(ENDINGS)


def agent_name(name: str) -> str:
    """What records call an agent: a file is called by its stem, wherever it lies."""
    return Path(name).stem if is_path(name) else name


def get_agent(name: str) -> Agent:
    """Load one agent. Raises UsageError for an unknown name, and for a file that makes no agent."""
    if is_path(name):
        return _from_file(Path(name))
    return cast(Agent, plugins.load(PACKAGE, MARKER, name))


def _from_file(path: Path) -> Agent:
    if path.suffix == ".toml":
        from fieldmark.agents.external import recipe

        return recipe.load(path)
    if path.suffix == ".py":
        from fieldmark.agents import own

        return own.load(path)
    raise UsageError(f"--agent {path}: an agent's file ends in {' or '.join(ENDINGS)}")
