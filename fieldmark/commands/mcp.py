"""`fieldmark mcp`: the tools as an MCP server, for agents that bring their own loop."""

from __future__ import annotations

import os
import signal
from typing import Any

import click

from fieldmark.commands.tool import host_options, inside, is_inside, outside, prompt_here
from fieldmark.task import SkillCard
from fieldmark.tools.base import Tool
from fieldmark.tools.boxes import looks
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
        cards, world = _bundled(), outside(**given, looking=not any(given[key] for key in _NO_PICTURE))
        offer = Offer(_usable(given), [card.name for card in cards])
        world()  # a wrong option is told to the user now, not to a model later
    serve(offer, world, skill_list(cards) if cards and "read_skill" in offer.tools else None)
    os._exit(0)  # calls that the client has given up are not waited for


_NO_PICTURE = ("registry", "search", "site", "web")
"""Options that give a server something to do without a picture."""


def _usable(given: dict[str, Any]) -> dict[str, Tool]:
    """The tools whose service the options name, and those that look only where there is a picture. The
    browser needs a sandbox; the classifier is for models without eyes.
    """
    web = given["web"] or given["site"]
    services = {
        "index": given["index"] or given["reverse"],
        "registry": given["registry"],
        "search": given["search"] or given["site"],
        "web": web,
        "found_pictures": given["index"] or web,
        "eyes": given["eyes"],
    }
    usable = [tool for tool in all_tools() if tool.needs is None or services.get(tool.needs)]
    return {
        tool.name: tool for tool in usable if tool.name != "browser" and (given["image"] or not looks(tool))
    }


def _bundled() -> list[SkillCard]:
    from fieldmark.skills.loader import bundled

    return [SkillCard(name=skill.name, description=skill.description) for skill in bundled()]
