"""`fieldmark mcp`: the tools as an MCP server, for agents that bring their own loop."""

from __future__ import annotations

import os
import signal
from typing import Any

import click

from fieldmark.commands.tool import host_options, inside, is_inside, outside, prompt_here
from fieldmark.task import SkillCard
from fieldmark.tools.base import Tool
from fieldmark.tools.offer import Offer
from fieldmark.tools.read_skill import skill_list
from fieldmark.tools.registry import all_tools


@click.command("mcp")
@host_options
def command(**given: Any) -> None:
    """Serve the tools to an MCP client over stdin and stdout, until the client closes them.

    Inside a container: the tools of the episode, through its gateway, recorded like those of our own agents.
    On the host: tools on the picture of --image, for whatever agent is at hand; nothing is recorded.

    \b
    fieldmark mcp --image photo.jpg --index ./pictures
    OpenCode, opencode.json:
      {"mcp": {"fieldmark": {"type": "local", "command": ["fieldmark", "mcp"]}}}
    Claude, .mcp.json:
      {"mcpServers": {"fieldmark": {"command": "fieldmark", "args": ["mcp"]}}}
    """
    from fieldmark.tools.mcp_server import serve

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C waits for the next line of stdin
    if is_inside(given["image"]):
        prompt = prompt_here()
        offer, cards, world = Offer.of(prompt), prompt.skills, inside(prompt, given["out"])
    else:
        cards, world = _bundled(), outside(**given)
        offer = Offer(_usable(given), [card.name for card in cards])
        world()  # a wrong option is told to the user now, not to a model later
    serve(offer, world, skill_list(cards) if cards and "read_skill" in offer.tools else None)
    os._exit(0)  # calls that the client has given up are not waited for


def _usable(given: dict[str, Any]) -> dict[str, Tool]:
    """The tools whose service the options name."""
    services = {
        "index": given["index"] or given["reverse"],
        "registry": given["registry"],
        "search": given["search"] or given["site"],
        "web": given["web"] or given["site"],
    }
    return {tool.name: tool for tool in all_tools() if tool.needs is None or services.get(tool.needs)}


def _bundled() -> list[SkillCard]:
    from fieldmark.skills.loader import bundled

    return [SkillCard(name=skill.name, description=skill.description) for skill in bundled()]
