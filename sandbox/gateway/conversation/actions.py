"""What a framework's tool does, under one name for all frameworks: a table in TOML."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, get_args

from fieldmark.errors import UsageError
from fieldmark.trace import Action, Side

TABLE = Path(__file__).with_name("actions.toml")
_SECTIONS = {"actions": get_args(Action), "sides": get_args(Side)}
_PATHS = ("path", "file_path", "filePath", "filepath", "absolute_path", "file", "image", "command", "cmd")
"""Arguments that name the file which a tool reads."""
_PICTURE = re.compile(r"\.(?:jpe?g|png|webp|gif|bmp|tiff?)$", re.IGNORECASE)
_OURS = re.compile(r"(?:mcp__)?fieldmark(?:__|_|\.|-|/|:)(?=.)")
"""What MCP clients put before the names of our own tools."""
_SKILL = re.compile(r"\bSKILL\.md\b")
_READS = re.compile(r"(?:cat|head|tail|less|more|sed|nl|bat)\s[^;&|]*\bSKILL\.md\S*\s*$")
"""A shell command that does nothing but read a skill."""


@dataclass(frozen=True)
class Kind:
    """`side`: a call that brings nothing new about the picture, and in which column it is counted."""

    action: Action = "other"
    side: Side | None = None


@dataclass(frozen=True)
class Actions:
    """Patterns of tool names (`*` for any letters, no capitals), the first that fits counts."""

    kinds: tuple[tuple[str, Kind], ...]
    wrappers: dict[str, tuple[list[str], list[str]]]
    prefixes: tuple[str, ...]

    def kind(self, name: str, arguments: Any = None) -> Kind:
        """What a call does. Reading a picture is looking at it; reading a SKILL.md is using a skill."""
        kind = self._named(name.lower()) or self._named(self.bare(name).lower()) or Kind()
        read = _read_file(arguments)
        if kind.action == "file" and _PICTURE.search(read):
            return Kind("image_inspection")
        if kind.action == "file" and _SKILL.search(read):
            return Kind("file", "skill")
        if kind.action == "code_or_shell" and _READS.match(read.strip()):
            return Kind("code_or_shell", "skill")
        return kind

    def bare(self, name: str) -> str:
        """The tool's own name, without the prefix that an MCP client gives it."""
        for prefix in self.prefixes:
            match = re.match(prefix, name)
            if match and match.end() < len(name):
                return name[match.end() :]
        return name

    @staticmethod
    def ours(name: str) -> str:
        """One of our own tools by its own name, whichever client offers it; any other name as it is."""
        return _OURS.sub("", name, count=1) if _OURS.match(name) else name

    def unwrapped(self, name: str, arguments: Any) -> tuple[str, Any]:
        """What a tool that calls another tool was told to call; any other call as it is."""
        if name not in self.wrappers or not isinstance(arguments, dict):
            return name, arguments
        names, inners = self.wrappers[name]
        inner = next((arguments[key] for key in names if isinstance(arguments.get(key), str)), "")
        given: Any = next((arguments[key] for key in inners if isinstance(arguments.get(key), dict)), {})
        return (inner, given) if inner else (name, arguments)

    def _named(self, name: str) -> Kind | None:
        return next((kind for pattern, kind in self.kinds if fnmatchcase(name, pattern)), None)


@cache
def load(own: Path | None = None) -> Actions:
    """The table, with the user's `own` file before it. UsageError names what is wrong in that."""
    tables = [_read(path) for path in (own, TABLE) if path]
    kinds = [entry for table in tables for entry in _kinds(table)]
    wrappers = {
        name: (keys["name"], keys["arguments"])
        for table in reversed(tables)
        for name, keys in table.get("wrappers", {}).items()
    }
    prefixes = [prefix for table in tables for prefix in table.get("prefixes", [])]
    return Actions(tuple(kinds), wrappers, tuple(prefixes))


def _kinds(table: dict[str, Any]) -> list[tuple[str, Kind]]:
    acts = [(name, Kind(action)) for action, names in table.get("actions", {}).items() for name in names]
    sides = [(name, Kind("other", side)) for side, names in table.get("sides", {}).items() for name in names]
    return [*acts, *sides]


def _read(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from None
    _check_keys(path, table)
    for section, words in _SECTIONS.items():
        for word, names in _entries(path, section, table):
            if word not in words:
                raise UsageError(f"{path}: no {section[:-1]} {word!r}: they are {', '.join(words)}")
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise UsageError(f"{path}: {section}.{word}: give a list of tool names")
    for name, keys in _entries(path, "wrappers", table):
        if not isinstance(keys, dict) or set(keys) != {"name", "arguments"}:
            raise UsageError(f"{path}: wrappers.{name}: give {{name = […], arguments = […]}}")
    prefixes = table.get("prefixes", [])
    for prefix in prefixes if isinstance(prefixes, list) else [prefixes]:
        try:
            re.compile(prefix)
        except (re.error, TypeError):
            raise UsageError(f"{path}: prefixes: {prefix!r} is no regular expression") from None
    return table


def _check_keys(path: Path, table: dict[str, Any]) -> None:
    known = ["prefixes", *_SECTIONS, "wrappers"]
    if unknown := sorted(table.keys() - {*known}):
        raise UsageError(f"{path}: unknown key {unknown[0]!r}: the keys are {', '.join(known)}")


def _entries(path: Path, section: str, table: dict[str, Any]) -> list[tuple[str, Any]]:
    entries = table.get(section, {})
    if not isinstance(entries, dict):
        raise UsageError(f"{path}: {section} is a table: see {TABLE.name}")
    return list(entries.items())


def _read_file(arguments: Any) -> str:
    """The file that a call reads, or its command; of one given as a list (`["bash", "-lc", …]`) the last."""
    given = arguments if isinstance(arguments, dict) else {}
    named = [given[key] for key in _PATHS if key in given]
    last = [value[-1] if isinstance(value, list) and value else value for value in named]
    return next((value for value in last if isinstance(value, str)), "")
