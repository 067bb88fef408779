"""Tools, skills and a judge of the user's own: loaded on the host, where they lie, and their hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.errors import UsageError
from fieldmark.selection import WORDS
from fieldmark.skills.choosing import is_folder
from fieldmark.skills.loader import bundled_folder
from fieldmark.skills.skill import Skill
from fieldmark.tools import own
from fieldmark.tools.base import Tool
from fieldmark.tools.registry import tool_names
from fieldmark.user_file import check_mountable, is_file_name, sha256


@dataclass(frozen=True)
class OwnTools:
    """`files`: the file of each tool, by its name."""

    tools: Sequence[Tool]
    files: dict[str, Path]

    @property
    def mounts(self) -> dict[str, str]:
        """File of this machine → where a container finds it."""
        return {str(file): str(own.FOLDER / f"{name}.py") for name, file in self.files.items()}


def load_tools(paths: Sequence[Path]) -> OwnTools:
    """UsageError for a file that makes no tool or cannot be mounted, and for a name that is taken."""
    tools: list[Tool] = []
    files: dict[str, Path] = {}
    for path in paths:
        tool = own.load(path)
        taken = "a tool of fieldmark" if tool.name in tool_names() else files.get(tool.name)
        if taken or tool.name in WORDS:
            raise UsageError(
                f"--tool {path}: the name {tool.name!r} is {taken or 'a word of --tools'}: choose another"
            )
        check_mountable(f"--tool {path}", path.resolve())
        tools.append(tool)
        files[tool.name] = path.resolve()
    return OwnTools(tools, files)


def describe(tools: OwnTools, judge: str) -> dict[str, Any]:
    """For run.json: the hash of each file that is the user's own."""
    told: dict[str, Any] = {}
    if tools.files:
        told["own_tools"] = {name: sha256(file) for name, file in tools.files.items()}
    if is_file_name(judge):
        told["judge_sha256"] = sha256(Path(judge))
    return told


def skills_by_path(spec: Sequence[str], *, public: bool) -> list[str]:
    """The entries of `--skills`, its folders by their whole paths, or `public`, by their names alone."""
    return [_folder(entry, public) if is_folder(entry) else entry for entry in spec]


def _folder(entry: str, public: bool) -> str:
    path = Path(entry.removeprefix("+")).expanduser().resolve()
    return f"{'+' if entry[0] == '+' else ''}{f'./{path.name}' if public else path}"


def check_unchanged(
    tools: OwnTools, judge: str, skills: Sequence[Skill], recorded: dict[str, Any], where: str
) -> None:
    """A run goes on with the tools, skills and judge of the user's that it began with. UsageError when one
    has changed.
    """
    for skill in skills:
        if skill.folder.parent != bundled_folder() and recorded["skills"].get(skill.name) != skill.sha256:
            raise UsageError(f"the skill {skill.name} has changed since {where} began: start a new run")
    now = describe(tools, judge)
    for name, digest in now.get("own_tools", {}).items():
        if recorded.get("own_tools", {}).get(name) != digest:
            raise UsageError(f"the tool {name} has changed since {where} began: start a new run")
    if now.get("judge_sha256") != recorded.get("judge_sha256"):
        raise UsageError(f"the judge has changed since {where} began: start a new run")
