"""SKILL.md: YAML front matter and a Markdown body, by the public Agent Skills convention (agentskills.io)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fieldmark.selection import ALWAYS_OFFERED, READ_SKILL, WORDS

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_FRONT_MATTER = 16_000
"""In characters."""

FIELDS = ("name", "description", "license", "allowed-tools", "metadata", "compatibility")
"""Fields of the convention. Others, which some agents have of their own, are let be."""

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TOOL = re.compile(r"[^\s,()]+(?:\([^)]*\))?")


@dataclass(frozen=True)
class Manifest:
    """What a SKILL.md says."""

    name: str
    description: str
    allowed_tools: list[str]
    body: str


def read_manifest(text: str, folder_name: str) -> Manifest | list[str]:
    """The manifest, or all that is wrong with it: one line each, saying what to do."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    match = _FRONT_MATTER.match(text)
    if match is None:
        return ["no front matter: begin the file with a line ---, then name: and description:, then ---"]
    fields = _fields(match[1] or "")
    if isinstance(fields, str):
        return [fields]
    body = text[match.end() :].strip()
    problems = [*_problems(fields, folder_name)]
    if not body:
        problems.append("the body is empty: write below the front matter what to do")
    if problems:
        return problems
    description = " ".join(fields["description"].split())
    return Manifest(fields["name"], description, _tools(fields.get("allowed-tools")), body + "\n")


def _fields(front_matter: str) -> dict[str, Any] | str:
    """The front matter as a mapping, or what is wrong with it."""
    import yaml  # type: ignore[import-untyped]

    if len(front_matter) > MAX_FRONT_MATTER:
        return f"the front matter has more than {MAX_FRONT_MATTER} characters: move text to the body"
    try:
        fields = yaml.safe_load(front_matter)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return f"the front matter is not valid YAML ({_where(error)}): quote values that hold a colon"
    if not isinstance(fields, dict):
        return "the front matter has no fields: write name: and description:, one a line"
    return fields


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error) or type(error).__name__
    line = f"line {mark.line + 2}: " if mark else ""  # the front matter begins in the file's second line
    return f"{line}{' '.join(str(what).split())[:120]}"


def _problems(fields: dict[str, Any], folder_name: str) -> Iterator[str]:
    for key in fields:
        close = difflib.get_close_matches(str(key).lower().replace("_", "-"), FIELDS, 1, 0.8)
        if key not in FIELDS and close:
            yield f"unknown field {key!r}: did you mean {close[0]}?"
    yield from _name_problems(fields.get("name"), folder_name)
    yield from _description_problems(fields.get("description"))
    yield from _tool_problems(fields.get("allowed-tools"))
    for key in ("license", "compatibility"):
        if not isinstance(fields.get(key, ""), str):
            yield f"{key} is not a text: put it in quotes"
    if not isinstance(fields.get("metadata", {}), dict):
        yield "metadata is not a mapping: write indented `key: value` lines below it"


def _name_problems(name: Any, folder_name: str) -> Iterator[str]:
    if name is None:
        yield f"no name: add `name: {folder_name}`"
    elif not isinstance(name, str):
        yield f"name is not a text: write `name: {folder_name}`, in quotes where YAML reads a number or date"
    elif not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        yield f"name {name[:80]!r}: use a-z, 0-9 and single hyphens between them, at most {MAX_NAME}"
    elif name in WORDS:
        yield f"name {name!r} is a word of --skills: choose another"
    elif name != folder_name:
        yield f"name {name!r} is not that of its folder, {folder_name!r}: rename one of them"


def _description_problems(description: Any) -> Iterator[str]:
    if not isinstance(description, str) or not description.strip():
        yield "no description: say in one sentence what the skill does and when to use it"
    elif len(description.strip()) > MAX_DESCRIPTION:
        length = len(description.strip())
        yield f"the description has {length} characters: shorten it to {MAX_DESCRIPTION}"


def _tool_problems(tools: Any) -> Iterator[str]:
    if (isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)) or tools is None:
        fixed = sorted({*ALWAYS_OFFERED, READ_SKILL} & set(_tools(tools)))
        if fixed:
            yield f"allowed-tools: {fixed[0]} does not depend on a skill: leave it out"
    elif isinstance(tools, str):
        yield from _tool_problems(_tools(tools))
    else:
        yield "allowed-tools is neither a text nor a list: name the tools with spaces or commas between them"


def _tools(value: str | list[str] | None) -> list[str]:
    """Names in their order, each once; `Bash(git:*)`, as other agents write it, is one name."""
    text = value if isinstance(value, str) else " , ".join(value or ())
    return list(dict.fromkeys(_TOOL.findall(text)))
