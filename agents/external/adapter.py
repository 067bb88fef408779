"""Adapter: what fieldmark must know to start an agent of others, and to read what it said at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fieldmark.needs import Needs
from fieldmark.task import Prompt


@dataclass(frozen=True)
class Setting:
    """What an agent of others works with. `text` is what it is asked, `picture` the file of the view.

    `base_url` is the gateway's, with `/v1`; no key is needed, any will do. `skills`: name → its files.
    """

    prompt: Prompt
    text: str
    picture: Path
    workspace: Path
    home: Path
    base_url: str
    skills: Mapping[str, Mapping[str, bytes]]


@dataclass(frozen=True)
class Launch:
    """A program to start. `files`: path → text, written first; `skills` is the folder the skills go to."""

    argv: Sequence[str]
    files: Mapping[Path, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    skills: Path | None = None


@dataclass(frozen=True)
class Output:
    """What came of it. `lingered`: it had said its last word and did not end, so it was killed."""

    stdout: str
    stderr: str
    exit_code: int
    lingered: bool = False


@dataclass(frozen=True)
class Collected:
    """What the agent's own output says: its final text; an error; how many tools it called, if it says so.

    `silent`: its error is no more than that its model said nothing.
    """

    text: str = ""
    error: str | None = None
    tool_calls: int | None = None
    silent: bool = False


class Adapter(Protocol):
    """One for each agent of others. `name` is what `--agent` calls it.

    `memory`: the files and folders that it reads again by itself when it starts anew, as `home/…` and
    `workspace/…`; none: it has no memory of its own.
    """

    name: str
    needs: Needs
    memory: tuple[str, ...]

    def prepare(self, setting: Setting) -> Launch:
        """The files and the command, from what is asked and with what."""
        ...

    def is_final(self, stdout: str) -> bool:
        """Whether what it printed so far holds its last word."""
        ...

    def collect(self, output: Output, setting: Setting) -> Collected:
        """What it said in the end."""
        ...
