"""What `fieldmark skills check` says beyond what loading does: links that lead nowhere, tools misspelt."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote

from fieldmark.skills.loader import load_skill
from fieldmark.skills.skill import MANIFEST, Skill

_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")
_ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#")


def problems(folder: Path, given: Path, tools: Collection[str]) -> list[str]:
    """All that is wrong with the skill, as in `load_skill`, one line each; `tools` are those that exist."""
    skill = load_skill(folder, given)
    if isinstance(skill, list):
        return skill
    return [*_broken_links(skill, folder), *_misspelt(skill, folder, tools)]


def links(skill: Skill, file: str) -> list[str]:
    """The relative links of a Markdown file of the skill, as paths in its folder; code is not looked at."""
    text = _CODE.sub("", skill.contents[file].decode("utf-8", "replace"))
    found = (unquote(link.partition("#")[0]) for link in _LINK.findall(text) if not _ELSEWHERE.match(link))
    return [posixpath.normpath(posixpath.join(posixpath.dirname(file), link)) for link in found]


def _broken_links(skill: Skill, folder: Path) -> Iterator[str]:
    folders = {str(parent) for path in skill.files for parent in Path(path).parents}
    for file in skill.files:
        if file.endswith(".md"):
            for link in links(skill, file):
                if link not in skill.contents and link not in folders:
                    yield f"{folder / file}: links to {link}, which is not there: add it or mend the link"


def _misspelt(skill: Skill, folder: Path, tools: Collection[str]) -> Iterator[str]:
    """Names close to a tool of ours; others (`Bash`) are tools of other agents."""
    for tool in skill.allowed_tools:
        close = difflib.get_close_matches(tool.lower().replace("-", "_"), list(tools), 1, 0.8)
        if tool not in tools and close:
            yield f"{folder / MANIFEST}: allowed-tools: unknown tool {tool!r}: did you mean {close[0]}?"
