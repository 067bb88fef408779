"""Find an agent by its name: an agent is a file of this folder that defines `AGENT`."""

from __future__ import annotations

from typing import cast

from fieldmark import plugins
from fieldmark.agents.base import Agent

PACKAGE, MARKER = "fieldmark.agents", "AGENT"


def agent_names() -> tuple[str, ...]:
    """The names of all agents, sorted; none is imported, so that a command line need not load LangGraph."""
    return plugins.names(PACKAGE, MARKER)


def get_agent(name: str) -> Agent:
    """Import one agent. Raises UsageError for an unknown name."""
    return cast(Agent, plugins.load(PACKAGE, MARKER, name))
