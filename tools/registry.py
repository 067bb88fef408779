"""Finds the tools: each is a file `tools/<name>.py` that defines `TOOL`. Importing this imports none."""

from __future__ import annotations

from fieldmark import plugins
from fieldmark.tools.base import Tool

PACKAGE, MARKER = "fieldmark.tools", "TOOL"


def tool_names() -> tuple[str, ...]:
    """The names of all tools, sorted, without importing them."""
    return plugins.names(PACKAGE, MARKER)


def get_tool(name: str) -> Tool:
    """The tool of that name; UsageError lists the known ones."""
    tool: Tool = plugins.load(PACKAGE, MARKER, name)
    return tool


def all_tools() -> list[Tool]:
    """Every tool, sorted by name."""
    return [get_tool(name) for name in tool_names()]
