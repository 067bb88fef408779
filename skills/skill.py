"""Skill: how to use the tools well for a kind of subject, held in memory as it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldmark.errors import ToolError

MANIFEST = "SKILL.md"


@dataclass(frozen=True)
class Skill:
    """One SKILL.md folder.

    `body` is SKILL.md without its front matter; `allowed_tools` are the tools it carries. `contents` has the
    bytes of every file by its path in `folder`, so that what an agent reads is what was hashed.
    """

    name: str
    description: str
    body: str
    allowed_tools: list[str]
    folder: Path
    contents: Mapping[str, bytes] = field(repr=False)

    @property
    def files(self) -> list[str]:
        """Paths in the folder, with `/`, sorted; SKILL.md is one of them."""
        return sorted(self.contents)

    @property
    def sha256(self) -> str:
        """Of the lines `<sha256 of file>  <path>`, sorted by path (`sha256sum FILES | sha256sum`)."""
        lines = "".join(f"{_sha256(self.contents[path])}  {path}\n" for path in self.files)
        return _sha256(lines.encode())

    def read(self, file: str = MANIFEST) -> dict[str, Any]:
        """`{"text", "sha256", "files"}` of one file: the body for SKILL.md; the hash is that of the file.

        ToolError: `not_found` with the files there are, `invalid_args` for a file that is not text.
        """
        if file not in self.contents:
            files = ", ".join(self.files)
            raise ToolError(f"skill {self.name} has no file {file[:100]!r}; its files: {files}", "not_found")
        data = self.contents[file]
        try:
            text = self.body if file == MANIFEST else data.decode("utf-8")
        except UnicodeDecodeError:
            raise ToolError(f"{file} of skill {self.name} is not a text", "invalid_args") from None
        return {"text": text, "sha256": _sha256(data), "files": self.files}


def read_from(skills: Sequence[Skill], name: str, file: str = MANIFEST) -> dict[str, Any]:
    """`Skill.read` of the skill called `name`; ToolError `not_found` with the names of `skills`."""
    for skill in skills:
        if skill.name == name:
            return skill.read(file)
    names = ", ".join(skill.name for skill in skills) or "none in this episode"
    raise ToolError(f"there is no skill {name[:100]!r}; the skills are: {names}", "not_found")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
