"""Finds the tools: each is a file `tools/<name>.py` that defines `TOOL`. Importing this imports none.

Inside a container a tool of the user's own is found by its name too.
"""

from __future__ import annotations

from fieldmark import plugins
from fieldmark.task import Space
from fieldmark.tools.base import Tool

PACKAGE, MARKER = "fieldmark.tools", "TOOL"


def tool_names() -> tuple[str, ...]:
    """The names of all tools, sorted, without importing them."""
    return plugins.names(PACKAGE, MARKER)


def get_tool(name: str) -> Tool:
    """The tool of that name; UsageError lists the known ones."""
    tool: Tool = plugins.load(PACKAGE, MARKER, name)
    return tool


def offered_tool(name: str, space: Space) -> Tool:
    """The tool as a model is offered it whose boxes are in `space` unless it says otherwise."""
    from fieldmark.tools import own
    from fieldmark.tools.boxes import in_space

    return in_space(own.load_inside(name) or get_tool(name), space)


def all_tools() -> list[Tool]:
    """Every tool, sorted by name."""
    return [get_tool(name) for name in tool_names()]
