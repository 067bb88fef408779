"""Read how to go about a kind of subject."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from fieldmark.errors import ToolError
from fieldmark.task import SkillCard
from fieldmark.tools.base import TEXT_CAP, Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number

PAGE = TEXT_CAP - 500
"""Characters of a file that are given at once; the rest of what a model is shown are the lines around it."""

_MANIFEST = "SKILL.md"


class ReadSkillArgs(Args):
    name: str = Field(description="the skill, by its name in the list you were given", max_length=200)
    file: str = Field(
        _MANIFEST,
        description="a file of the skill that it refers to, such as references/table.md; "
        "leave out for the skill itself",
        max_length=400,
    )
    page: Number = Field(1, description="which page of a long file, from 1", ge=1, le=1000)


def run(args: ReadSkillArgs, context: Context) -> ToolResult:
    name, file = args.name.strip(), args.file.strip().removeprefix("./") or _MANIFEST
    reply = context.skill(name, file)
    pages = _pages(str(reply["text"]))
    number = int(args.page)
    if number > len(pages):
        raise ToolError(f"page {number}: {file} of {name} has only {len(pages)}", "invalid_args")
    context.emit("skill_read", skill=name, file=file, sha256=reply["sha256"])
    lines = [f"Skill {name}, {file}{f', page {number} of {len(pages)}' if pages[1:] else ''}:", ""]
    lines.append(pages[number - 1])
    if number < len(pages):
        lines.append(f"It goes on: call read_skill with page {number + 1}.")
    return ToolResult("\n".join(lines), {"found": True, "skill": name, "file": file, "pages": len(pages)})


def skill_list(cards: Sequence[SkillCard]) -> str:
    """What a model is told of the skills that are on: names and descriptions, a body when it is wanted."""
    listed = "".join(f"- {card.name}: {card.description}\n" for card in cards)
    return f"Skills: instructions for kinds of subject; `read_skill` gives the one you name.\n{listed}"


def _pages(text: str) -> list[str]:
    """`text` in pieces of at most PAGE characters, cut after whole lines where lines are shorter."""
    pages = []
    while len(text) > PAGE:
        cut = text.rfind("\n", 0, PAGE) + 1 or PAGE
        pages.append(text[:cut])
        text = text[cut:]
    return [*pages, text]


TOOL = Tool(
    name="read_skill",
    description=(
        "Read a skill: short instructions for a kind of subject, with the steps to take and the features "
        "that tell look-alikes apart. Give its `name` from the list of skills; read it before you start on "
        "such a subject. A skill is read, never called as a tool."
    ),
    args=ReadSkillArgs,
    action="other",
    run=run,
)
