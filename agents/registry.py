"""Find an agent by its name: a file here that defines `AGENT`, a recipe, or a path of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from fieldmark import plugins
from fieldmark.agents.base import Agent
from fieldmark.errors import UsageError

PACKAGE, MARKER = "fieldmark.agents", "AGENT"
RECIPES = Path(__file__).parent / "recipes"
ENDINGS = (".py", ".toml")
"""Of an agent's file: Python, or a recipe."""


def agent_names() -> tuple[str, ...]:
    """The names of all agents, sorted; none is imported, so that a command line need not load LangGraph."""
    return tuple(sorted({*plugins.names(PACKAGE, MARKER), *recipe_names()}))


def recipe_names() -> tuple[str, ...]:
    """The agents that are recipes of ours."""
    return tuple(sorted(file.stem for file in RECIPES.glob("*.toml")))


def is_path(name: str) -> bool:
    """Whether it names a file or folder of the user's own rather than an agent of ours."""
    return "/" in name or name.startswith(".") or name.endswith(ENDINGS)


def agent_name(name: str) -> str:
    """What records call an agent: a file is called by its stem, a folder by its name, wherever it lies."""
    if not is_path(name):
        return name
    path = Path(name)
    return path.stem if path.suffix in ENDINGS else path.resolve().name


def get_agent(name: str) -> Agent:
    """Load one agent. Raises UsageError for an unknown name, and for a file that makes no agent."""
    if is_path(name):
        return _from_file(Path(name))
    recipes = recipe_names()
    if name in recipes:
        from fieldmark.agents.external import recipe_agent

        return recipe_agent.load(RECIPES / f"{name}.toml")
    if Path(name).is_dir() and name not in plugins.names(PACKAGE, MARKER):
        raise UsageError(f"unknown agent {name!r}: for the folder of that name write ./{name}")
    return cast(Agent, plugins.load(PACKAGE, MARKER, name, beside=recipes))


def _from_file(path: Path) -> Agent:
    if path.suffix == ".toml":
        from fieldmark.agents.external import recipe_agent

        return recipe_agent.load(path)
    if path.suffix == ".py" or path.is_dir():
        from fieldmark.agents.own.agent import load

        return load(path)
    raise UsageError(f"--agent {path}: an agent is a folder, or a file that ends in {' or '.join(ENDINGS)}")
