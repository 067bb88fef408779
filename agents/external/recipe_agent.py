"""An agent made of a recipe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from fieldmark.agents.external.adapter import Collected, Launch, Output, Setting
from fieldmark.agents.external.agent import ExternalAgent
from fieldmark.agents.external.recipe import Answer, Recipe, read_recipe
from fieldmark.needs import Kit, Needs


def load(file: Path) -> ExternalAgent:
    """The agent of a recipe, called as its file. UsageError says what is wrong with the recipe."""
    return ExternalAgent(RecipeAdapter(*read_recipe(file)))


class RecipeAdapter:
    """Does what a recipe says."""

    def __init__(self, name: str, recipe: Recipe) -> None:
        self.name = name
        self._recipe = recipe
        install, needs = recipe.install, recipe.needs
        self.memory = tuple(path.removeprefix("$") for path in recipe.memory.places)
        kit = Kit(name, install.npm, install.pip) if install.npm or install.pip else None
        self.needs = Needs(needs.memory_mb, needs.processors, needs.pids, kit, recipe.wire)

    def prepare(self, setting: Setting) -> Launch:
        """The recipe with its values put in."""
        recipe, values = self._recipe, self._values(setting)
        words = [*recipe.run.command, *(recipe.picture.arguments if setting.prompt.sees else ())]
        return Launch(
            argv=[_fill(word, values) for word in words],
            files={Path(_fill(path, values)): _fill(text, values) for path, text in recipe.files.items()},
            env={key: _fill(value, values) for key, value in recipe.env.items()},
            stdin=_fill(recipe.run.stdin, values),
            skills=Path(values["skills"]) if recipe.skills else None,
        )

    def is_final(self, stdout: str) -> bool:
        """Whether the recipe's `last` line is out."""
        answer = self._recipe.answer
        if answer is None or not answer.last or answer.file:
            return False
        return any(_has(row, answer.last) for row in _objects(stdout))

    def collect(self, output: Output, setting: Setting) -> Collected:
        """The answer from where the recipe says; the error likewise."""
        recipe, values = self._recipe, self._values(setting)
        said = _read(recipe.answer, output.stdout, values) if recipe.answer else ""
        told = recipe.error and _select(_objects(output.stdout), recipe.error.where, recipe.error.field)
        return Collected(said, " ".join(told.split()) if told else None)

    def _values(self, setting: Setting) -> dict[str, str]:
        prompt = setting.prompt
        values = {
            **{"text": setting.text, "picture": setting.picture, "workspace": setting.workspace},
            **{"home": setting.home, "base_url": setting.base_url, "model": prompt.model},
            **{"context": prompt.context, "output": prompt.output, "seconds": int(prompt.limits.seconds)},
            **{"skills": setting.workspace / "skills", "sees": "true" if prompt.sees else "false"},
        }
        filled = {key: str(value) for key, value in values.items()}
        if self._recipe.skills:
            filled["skills"] = _fill(self._recipe.skills.folder, filled)
        if prompt.sees and self._recipe.picture.text:
            filled["text"] += "\n\n" + _fill(self._recipe.picture.text, filled)
        return filled


def _fill(text: str, values: Mapping[str, str]) -> str:
    return Template(text).substitute(values)


def _read(answer: Answer, stdout: str, values: Mapping[str, str]) -> str:
    if answer.file:
        file = Path(_fill(answer.file, values))
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    else:
        text = stdout
    if answer.format == "text":
        return text
    rows = _objects(text) if answer.format == "jsonl" else iter([_parsed(text)])
    return _select(rows, answer.where, answer.field) or ""


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects among lines of JSON; other lines are nothing."""
    rows = (_parsed(line) for line in text.splitlines())
    return (row for row in rows if row)


def _parsed(text: str) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _select(rows: Iterator[dict[str, Any]], where: Mapping[str, Any], field: str) -> str | None:
    """The field of the last row that has all of `where` and the field; what is no text, as JSON."""
    found = [value for row in rows if _has(row, where) and (value := _at(row, field)) is not None]
    if not found:
        return None
    return found[-1] if isinstance(found[-1], str) else json.dumps(found[-1], ensure_ascii=False)


def _has(row: dict[str, Any], where: Mapping[str, Any]) -> bool:
    return all(_at(row, path) == value for path, value in where.items())


def _at(row: Any, path: str) -> Any:
    """What stands at `item.text` or `messages.-1.content`; None where there is no such place."""
    for part in path.split("."):
        if isinstance(row, dict):
            row = row.get(part)
        elif isinstance(row, list) and re.fullmatch(r"-?\d+", part):
            row = row[int(part)] if -len(row) <= int(part) < len(row) else None
        else:
            return None
    return row
