"""What an episode offers by name, and what a call by any other name is told."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from fieldmark.task import Prompt
from fieldmark.tools import read_skill
from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.registry import offered_tool

_SHOWN = 100
_ALIKE = 0.6
_CLIENTS_PREFIX = re.compile(r".*?(?:functions|fieldmark)[._]+")


@dataclass(frozen=True)
class Offer:
    """`tools` by name, in their order. `skills` are those whose body a call by their name is given: none
    where such a call is to fail like any other.
    """

    tools: Mapping[str, Tool]
    skills: Collection[str] = ()

    @classmethod
    def of(cls, prompt: Prompt, tools: Iterable[Tool] | None = None) -> Offer:
        """What a prompt offers; UsageError when this installation lacks a tool of it."""
        if tools is None:
            tools = [offered_tool(name, prompt.space) for name in prompt.tools]
        offered = {tool.name: tool for tool in tools}
        helped = prompt.skill_calls == "helpful" and read_skill.TOOL.name in offered
        return cls(offered, [card.name for card in prompt.skills] if helped else ())


def unknown(name: str, offer: Offer, context: Context) -> ToolResult:
    """What a call by a name that is no tool's comes to: never the tool that may have been meant.

    The name of a skill, also written with _ for -, brings the skill and a line of advice; it stays a failed
    call. Any other brings the names there are, the closest of them first.
    """
    skill = name.replace("_", "-")
    if skill in offer.skills:
        return _body(skill, name, context)
    names = ", ".join(offer.tools) or "none"
    close = _closest(name, offer.tools)
    hint = f" (did you mean {close}?)" if close else ""
    return ToolResult.failed("not_found", f"no tool named {name[:_SHOWN]!r}{hint}; the tools are {names}")


def _body(skill: str, name: str, context: Context) -> ToolResult:
    read = read_skill.run(read_skill.ReadSkillArgs.model_validate({"name": skill}), context)
    advice = f'{skill} is a skill, not a tool: next time read it with read_skill, {{"name": "{skill}"}}.'
    return ToolResult(
        f"{read.text.rstrip()}\n\n{advice}",
        ok=False,
        error_kind="not_found",
        error=f"no tool named {name!r}: it is a skill, and its text was given",
    )


def _closest(name: str, known: Collection[str]) -> str | None:
    """The tool that a slip of the pen, or a client's way of naming tools, makes `name` of."""
    plain = _CLIENTS_PREFIX.sub("", name[:_SHOWN].strip().lower()).replace("-", "_")
    return next(iter(difflib.get_close_matches(plain, known, 1, _ALIKE)), None)
